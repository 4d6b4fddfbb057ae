"""Load tests, emulators and scenarios. Nothing in the product imports this package."""
