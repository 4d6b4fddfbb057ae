# The gateway and its command line. Build: docker build -t spillover .
# Nothing but the base image and the package index is fetched, and every package is checked against its hash.

FROM python:3.13-slim-trixie AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
WORKDIR /build

# Two environments: what builds the wheel never reaches the final stage.
COPY requirements.txt requirements-build.txt ./
RUN python -m venv /opt/build \
 && /opt/build/bin/pip install --only-binary :all: --require-hashes -r requirements-build.txt \
 && python -m venv /opt/spillover \
 && /opt/spillover/bin/pip install --only-binary :all: --require-hashes -r requirements.txt

# The build context holds no loadtests (.dockerignore), so the wheel has the gateway alone. Bytecode is compiled here,
# because the root file system may be read-only later.
COPY pyproject.toml LICENSE ./
COPY router router
COPY providers providers
COPY config config
RUN /opt/build/bin/pip wheel --no-deps --no-index --no-build-isolation --wheel-dir dist . \
 && /opt/spillover/bin/pip install --compile --no-deps --no-index dist/*.whl \
 && /opt/spillover/bin/pip uninstall --yes pip

FROM python:3.13-slim-trixie
ARG REVISION=unknown
LABEL org.opencontainers.image.title="spillover" \
      org.opencontainers.image.description="Inference router for diffusion workloads with external overflow" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.revision="${REVISION}"

# The same path as in the builder: scripts of an environment name their interpreter by it.
COPY --from=builder /opt/spillover /opt/spillover
ENV PATH=/opt/spillover/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    SPILLOVER_CONFIG=/etc/spillover/spillover.yaml

# A number, so that Kubernetes can verify runAsNonRoot. The process writes nowhere: run it with a read-only root.
USER 10001:10001
WORKDIR /
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["spillover", "healthcheck", "--url", "http://127.0.0.1:8080/livez"]

# One process a container: metrics are per process, so scale by containers. The configuration is mounted.
ENTRYPOINT ["spillover"]
CMD ["serve"]
