"""The switches and the witness of every emulator, under `/_emulator` of its own address.

`POST faults` replaces the list; it is answered before instant faults act, since one of them closes the
connection.
"""

from collections.abc import Callable
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from loadtests.emulators.faults import FaultBoard
from loadtests.emulators.ledger import Ledger


def control_routes(
    name: str, board: FaultBoard, ledger: Ledger, state: Callable[[], dict[str, Any]]
) -> list[Route]:
    async def put_faults(request: Request) -> Response:
        try:
            specs = await request.json()
            faults = board.read(specs if isinstance(specs, list) else [specs])
        except (ValueError, TypeError, AttributeError) as error:
            return JSONResponse({"detail": str(error)}, 400)
        instant = board.install(faults)
        shown = [fault.shown() for fault in faults]
        return JSONResponse({"faults": shown}, background=BackgroundTask(board.act, instant))

    async def get_faults(_request: Request) -> Response:
        return JSONResponse({"faults": board.shown()})

    async def get_ledger(request: Request) -> Response:
        """Own rows; `?worker=*` gives all rows of the process, `?kind=a,b` selects kinds."""
        kinds = [kind for kind in request.query_params.get("kind", "").split(",") if kind]
        worker = request.query_params.get("worker", name)
        rows = ledger.rows(*kinds, worker=None if worker == "*" else worker)
        return JSONResponse({"rows": rows})

    async def get_state(_request: Request) -> Response:
        return JSONResponse(state())

    return [
        Route("/_emulator/faults", put_faults, methods=["POST"]),
        Route("/_emulator/faults", get_faults, methods=["GET"]),
        Route("/_emulator/ledger", get_ledger, methods=["GET"]),
        Route("/_emulator/state", get_state, methods=["GET"]),
    ]
