from streamgauge.analysis.feeding.row_group_tasks import dealt_out


def test_tasks_are_of_nearly_the_same_size_and_the_longest_comes_first():
    rows = [10, 30, 20, 20, 40]
    tasks = dealt_out(rows, 3, lambda size: size)

    assert [sum(size for _, size in task) for task in tasks] == [40, 40, 40]
    assert sorted(number for task in tasks for number, _ in task) == [0, 1, 2, 3, 4]
    assert dealt_out([], 3, lambda size: size) == []
