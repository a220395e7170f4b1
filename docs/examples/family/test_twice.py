from streamgauge.testing.family_suite import FamilySuite


class TestTwice(FamilySuite):
    kind = "twice"
    content = {
        "targets": [{"name": "a", "driver": "simulated"}],
        "load": {"messages": 10},
        "times": 3,
    }
