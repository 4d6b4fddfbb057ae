"""The demo: a whole small deployment on one machine, a claim amid its traffic, and an honest account.

`spillover demo` starts emulated workers and an emulated provider, an embedded store and two replicas of the
router, plays one scene, and counts from the emulators' ledgers and the client's own record, never from the
router's word.
"""
