"""`python -m router.cli`, for where the `spillover` script is not on the path."""

from router.cli.main import main

if __name__ == "__main__":
    main()
