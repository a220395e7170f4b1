"""Every module has a test file of its own; of each that has none, a line here says which test covers it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import streamgauge

SOURCES = Path(streamgauge.__file__).parent
TESTS = Path(__file__).parent
MOST_STEPS = 2
"""From a test to what it covers, by imports."""

COVERED = {
    "agents/forked_process.py": "agents/test_fork_server.py",
    "agents/malloc.py": "jvm/test_embedded.py",
    "agents/log_without_secrets.py": "agents/test_process.py",
    "agents/order_receiving.py": "agents/test_consumer.py",
    "agents/receiving.py": "agents/test_consumer.py",
    "agents/rendezvous.py": "agents/test_warming_up.py",
    "agents/sending.py": "agents/test_producer.py",
    "analysis/feeding/bucket_tasks.py": "analysis/feeding/test_feeding.py",
    "analysis/feeding/cogroup.py": "analysis/feeding/test_feeding.py",
    "analysis/feeding/event_files.py": "analysis/feeding/test_feeding.py",
    "analysis/feeding/fed.py": "analysis/feeding/test_feeding.py",
    "analysis/feeding/here.py": "analysis/feeding/test_feeding.py",
    "analysis/feeding/sizing.py": "analysis/test_pipeline.py",
    "analysis/feeding/row_group_tasks.py": "analysis/feeding/test_feeding.py",
    "analysis/feeding/slice_work.py": "analysis/feeding/test_feeding.py",
    "analysis/fault_costs.py": "analysis/test_fault_figures.py",
    "analysis/joining/cells.py": "analysis/joining/test_messages.py",
    "analysis/joining/columns.py": "analysis/joining/test_buckets.py",
    "analysis/joining/facts.py": "analysis/joining/test_messages.py",
    "analysis/joining/first_copies.py": "analysis/joining/test_messages.py",
    "analysis/message_rows.py": "analysis/test_fault_figures.py",
    "analysis/rolling/files.py": "analysis/rolling/test_step.py",
    "analysis/rolling/late_copies.py": "analysis/rolling/test_step.py",
    "analysis/rolling/letting_go.py": "analysis/rolling/test_step.py",
    "analysis/rolling/totals.py": "analysis/rolling/test_step.py",
    "analysis/scopes.py": "analysis/test_case_figures.py",
    "analysis/storage.py": "analysis/test_pipeline.py",
    "analysis/verifying/copies.py": "analysis/verifying/test_verify.py",
    "analysis/verifying/fates.py": "analysis/verifying/test_verify.py",
    "analysis/verifying/place_packs.py": "analysis/verifying/test_log_places.py",
    "analysis/verifying/polls.py": "analysis/verifying/test_verify.py",
    "comparing/check_show.py": "comparing/test_check.py",
    "comparing/document.py": "comparing/test_differences.py",
    "comparing/history_show.py": "comparing/test_show.py",
    "comparing/measured.py": "comparing/test_differences.py",
    "comparing/schema.py": "comparing/test_show.py",
    "comparing/series.py": "comparing/test_histories.py",
    "cli/exit_codes.py": "cli/test_named_causes.py",
    "cli/options.py": "cli/test_follower.py",
    "cli/running.py": "cli/test_run_flags.py",
    "recording/kept.py": "recording/test_recovery.py",
    "systems/equipment.py": "faults/test_links.py",
    "systems/token_terms.py": "systems/test_token_endpoint.py",
    "core/fault_figures.py": "analysis/test_fault_figures.py",
    "core/findings.py": "analysis/verifying/test_verify.py",
    "core/folders.py": "jvm/test_compiler.py",
    "core/guardian_process.py": "core/test_guardian.py",
    "core/live_file.py": "agents/test_live.py",
    "core/json_schema.py": "report/test_document.py",
    "core/other_guardians.py": "core/test_guardian.py",
    "core/other_schemes.py": "launch/test_hadoop_files.py",
    "core/outcomes.py": "report/test_outcomes.py",
    "core/run_files.py": "launch/test_hadoop_files.py",
    "core/served_files.py": "launch/test_folder_server.py",
    "drivers/async_contract.py": "drivers/test_event_loop.py",
    "drivers/contract.py": "drivers/test_fleeting.py",
    "drivers/instant_acks.py": "agents/test_producer.py",
    "drivers/kafka/confluent/columns.py": "drivers/kafka/confluent/test_consumer.py",
    "drivers/kafka/confluent/librdkafka.py": "drivers/kafka/confluent/test_native_producer.py",
    "drivers/kafka/confluent/own_client.py": "drivers/kafka/confluent/test_native_producer.py",
    "drivers/kafka/consumer.py": "drivers/kafka/confluent/test_consumer.py",
    "drivers/kafka/driver.py": "drivers/kafka/confluent/test_consumer.py",
    "drivers/kafka/metrics.py": "launch/test_live_query.py",
    "drivers/kafka/rights.py": "drivers/kafka/test_secured_clusters.py",
    "drivers/kafka/sender.py": "families/fanout/test_generator_life.py",
    "drivers/push/lines.py": "drivers/push/test_native_swarm.py",
    "drivers/push/opening.py": "drivers/push/test_swarm.py",
    "drivers/push/picows_swarm.py": "drivers/push/test_swarm.py",
    "drivers/push/sessions.py": "drivers/push/test_swarm.py",
    "drivers/redis/clients.py": "drivers/redis/test_streams.py",
    "drivers/redis/wire.py": "drivers/redis/test_streams.py",
    "drivers/transports_java.py": "drivers/test_order_loops.py",
    "exporting/omb_percentiles.py": "exporting/test_files.py",
    "exporting/omb_result.py": "exporting/test_files.py",
    "exporting/openmetrics.py": "exporting/test_files.py",
    "faults/contract.py": "faults/test_brokers.py",
    "families/compare/client_settings.py": "families/compare/test_turn_taking.py",
    "families/compare/event_tables.py": "families/compare/test_turn_taking.py",
    "families/compare/library_processes.py": "families/compare/test_referee.py",
    "families/compare/outcome.py": "families/compare/test_comparisons.py",
    "families/compare/places.py": "families/compare/test_show.py",
    "families/compare/result_tables.py": "families/compare/test_comparisons.py",
    "families/compare/words.py": "families/compare/test_show.py",
    "families/compare/workload.py": "families/compare/test_conduct.py",
    "families/e2e/workload.py": "cli/test_topic.py",
    "families/fanout/accounts.py": "families/fanout/test_points.py",
    "families/fanout/accounting_tables.py": "families/fanout/test_show.py",
    "families/fanout/case_gateway.py": "families/fanout/test_conduct.py",
    "families/fanout/case_servers.py": "families/fanout/test_conduct.py",
    "families/fanout/document.py": "families/fanout/test_show.py",
    "families/fanout/event_tables.py": "families/fanout/test_points.py",
    "families/fanout/figures.py": "families/fanout/test_show.py",
    "families/fanout/figures_by_spark.py": "families/fanout/test_figures_here.py",
    "families/fanout/generator.py": "families/fanout/test_generator_life.py",
    "families/fanout/host_table.py": "families/fanout/test_hosts.py",
    "families/fanout/life.py": "families/fanout/test_generator_life.py",
    "families/fanout/names.py": "families/fanout/test_section.py",
    "families/fanout/own_gateway.py": "families/fanout/test_conduct.py",
    "families/fanout/point_names.py": "families/fanout/test_show.py",
    "families/fanout/published.py": "families/fanout/test_show.py",
    "families/fanout/result_tables.py": "families/fanout/test_outcomes.py",
    "families/fanout/second_show.py": "families/fanout/test_show.py",
    "families/fanout/servers_there.py": "families/fanout/test_conduct.py",
    "families/fanout/tables.py": "families/fanout/test_show.py",
    "families/fanout/update_figures.py": "families/fanout/test_figures_here.py",
    "families/fanout/workload.py": "families/fanout/test_section.py",
    "families/imported/command.py": "importing/test_formats.py",
    "families/imported/conduct.py": "families/imported/test_writing.py",
    "families/imported/document.py": "families/imported/test_writing.py",
    "families/imported/tables.py": "families/imported/test_writing.py",
    "families/imported/workload.py": "families/imported/test_writing.py",
    "families/limit/cases.py": "families/limit/test_show.py",
    "families/limit/document.py": "families/limit/test_show.py",
    "families/limit/search_file.py": "families/limit/test_course.py",
    "families/limit/workload.py": "families/limit/test_show.py",
    "families/sweep/document.py": "families/sweep/test_show.py",
    "families/sweep/effect_figures.py": "families/sweep/test_show.py",
    "families/sweep/scope_table.py": "families/sweep/test_show.py",
    "families/sweep/workload.py": "families/sweep/test_flags.py",
    "families/transports/document.py": "families/transports/test_show.py",
    "families/transports/targets.py": "families/transports/test_flags.py",
    "flags/asked.py": "cli/test_run_flags.py",
    "flags/embedded.py": "flags/test_kafka_target.py",
    "flags/kafka_there.py": "cli/test_topic.py",
    "flags/secured_targets.py": "cli/test_cluster.py",
    "gallery/fault_list.py": "gallery/test_exhibits.py",
    "gallery/faulty.py": "gallery/test_exhibits.py",
    "gallery/show.py": "gallery/test_exhibits.py",
    "gateway/connector/configuration_draft.py": "gateway/connector/test_adapters_xml.py",
    "gateway/connector/connection_settings.py": "gateway/connector/test_librdkafka_settings.py",
    "gateway/connector/evaluator_settings.py": "gateway/connector/test_librdkafka_settings.py",
    "gateway/connector/evaluators/contract.py": "gateway/connector/evaluators/test_json_records.py",
    "gateway/connector/evaluators/making.py": "gateway/connector/test_commands.py",
    "gateway/connector/evaluators/protobuf_types.py": "gateway/connector/evaluators/test_protobuf_fields.py",
    "gateway/connector/parameters.py": "gateway/connector/test_configuration.py",
    "gateway/connector/security_settings.py": "gateway/connector/test_keystores.py",
    "gateway/protocol/codes.py": "gateway/protocol/test_command_reading.py",
    "gateway/protocol/commands.py": "gateway/protocol/test_command_reading.py",
    "gateway/server/contract.py": "gateway/server/test_admission.py",
    "gateway/server/gateway.py": "gateway/server/test_autobahn_cases.py",
    "gateway/server/gateway_process.py": "cli/test_gateway.py",
    "gateway/server/http_connections.py": "gateway/server/test_http_sessions.py",
    "gateway/server/http_exchanges.py": "gateway/server/test_door.py",
    "gateway/server/items.py": "gateway/server/test_python_client.py",
    "gateway/server/reception.py": "gateway/server/test_autobahn_cases.py",
    "gateway/server/server.py": "gateway/server/test_autobahn_cases.py",
    "gateway/server/sessions.py": "gateway/server/test_control.py",
    "gateway/server/settings.py": "gateway/server/test_autobahn_cases.py",
    "importing/figures.py": "importing/test_formats.py",
    "jvm/aeron_directory.py": "systems/test_aeron_media_driver.py",
    "launch/case_run.py": "families/limit/test_course.py",
    "launch/child_process.py": "launch/test_crew_member.py",
    "launch/python_daemon.py": "launch/test_spark_session.py",
    "launch/live_wish.py": "launch/test_live_choice.py",
    "launch/run_session.py": "families/limit/test_course.py",
    "payload/messages.py": "payload/test_compression.py",
    "payload/pool.py": "payload/test_making.py",
    "plan/family_tables.py": "tables/test_tables.py",
    "report/case_document.py": "report/test_case_section.py",
    "report/case_reading.py": "report/test_case_section.py",
    "report/hosts.py": "report/test_case_section.py",
    "report/knob_figures.py": "report/test_plots.py",
    "report/medium.py": "report/test_outcome_show.py",
    "report/page_environment.py": "report/test_page_renderer.py",
    "report/page_frame.py": "report/test_plots.py",
    "report/plotted.py": "report/test_knob_points.py",
    "report/results.py": "report/test_write.py",
    "report/schema.py": "report/test_document.py",
    "report/settings_text.py": "report/test_case_section.py",
    "report/shown.py": "report/test_figures_are_values.py",
    "report/shown_tables.py": "report/test_csv_renderer.py",
    "serve/compare_page.py": "serve/test_app.py",
    "serve/frame.py": "serve/test_app.py",
    "serve/live_page.py": "serve/test_live_feed.py",
    "serve/run_page.py": "serve/test_app.py",
    "serve/run_pages.py": "serve/test_app.py",
    "serve/runs_page.py": "serve/test_app.py",
    "serve/start_page.py": "serve/test_app.py",
    "serve/start_pages.py": "serve/test_app.py",
    "spec/client_settings.py": "drivers/kafka/test_settings.py",
    "spec/family.py": "spec/test_families.py",
    "spec/load.py": "spec/test_workload.py",
    "spec/metrics.py": "spec/test_objective.py",
    "spec/model.py": "spec/test_loading.py",
    "spec/rate.py": "spec/test_loading.py",
    "systems/contract.py": "launch/test_target_system.py",
    "systems/kafka_locks.py": "systems/test_kafka_security.py",
    "systems/kafka_rights.py": "drivers/kafka/test_secured_clusters.py",
    "systems/nats_server.py": "drivers/nats/test_jetstream.py",
    "systems/server_process.py": "systems/test_rabbitmq_server.py",
    "tables/events.py": "tables/test_tables.py",
    "tables/results.py": "tables/test_percentile_support.py",
    "testing/family_suite.py": "families/test_family_suite.py",
    "testing/kafka_suite.py": "drivers/kafka/aio/test_driver.py",
    "testing/machines/wire.py": "testing/machines/test_bed.py",
    "testing/wired.py": "testing/test_driver_suite.py",
}
"""Module → the test that covers it, which imports it, or what imports it."""

BY_NAME = {
    "__init__.py": "api/test_runs.py",
    "cli/analyze.py": "families/e2e/test_command.py",
    "api/difference.py": "api/test_runs.py",
    "api/notebook.py": "api/test_runs.py",
    "api/rows.py": "api/test_runs.py",
    "cli/export.py": "exporting/test_files.py",
    "cli/gallery.py": "gallery/test_exhibits.py",
    "cli/report.py": "families/e2e/test_command.py",
    "cli/results.py": "families/e2e/test_command.py",
    "drivers/aeron/clients.py": "drivers/aeron/test_driver.py",
    "drivers/kafka/java/batches.py": "drivers/kafka/java/test_driver.py",
    "drivers/kafka/java/client.py": "drivers/kafka/java/test_driver.py",
    "drivers/kafka/java/records.py": "drivers/kafka/java/test_driver.py",
    "drivers/kafka/records.py": "drivers/kafka/python/test_driver.py",
    "drivers/push/websocket.py": "families/fanout/test_command.py",
    "drivers/rabbitmq/clients.py": "drivers/rabbitmq/test_streams.py",
    "drivers/rabbitmq/connection.py": "drivers/rabbitmq/test_streams.py",
    "families/compare/analysis.py": "golden/test_golden.py",
    "families/compare/cases.py": "families/compare/test_planned_comparison.py",
    "families/compare/family.py": "families/test_family_suite.py",
    "families/compare/figures.py": "families/compare/test_show.py",
    "families/compare/library_process.py": "families/compare/test_referee.py",
    "families/compare/referee_life.py": "families/compare/test_command.py",
    "families/compare/repetitions_csv.py": "families/compare/test_show.py",
    "families/e2e/family.py": "families/test_family_suite.py",
    "families/fanout/cases.py": "families/fanout/test_point.py",
    "families/fanout/family.py": "families/test_family_suite.py",
    "families/imported/cases.py": "families/test_family_suite.py",
    "families/imported/measured.py": "families/imported/test_writing.py",
    "families/imported/show.py": "families/imported/test_writing.py",
    "families/imported/family.py": "families/test_family_suite.py",
    "families/limit/conduct.py": "families/limit/test_command.py",
    "families/limit/family.py": "families/test_family_suite.py",
    "families/sweep/family.py": "families/test_family_suite.py",
    "families/transports/family.py": "families/test_family_suite.py",
    "gateway/server/alarms.py": "gateway/server/test_live_fuzzing.py",
    "gateway/server/cohorts.py": "gateway/server/test_delivery.py",
}
"""The same for what is loaded by its name: commands, families, drivers, what a process of its own runs."""


def modules() -> list[str]:
    found = (path for path in SOURCES.rglob("*.py") if path.read_text("utf-8").strip())
    return sorted(str(path.relative_to(SOURCES)) for path in found)


def own_test(module: str) -> str:
    folder, _, name = module.rpartition("/")
    return f"{folder}/test_{name}" if folder else f"test_{name}"


def dotted(module: str) -> str:
    return "streamgauge." + module.removesuffix(".py").replace("/", ".")


def imported(path: Path, seen: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Names that a test imports, itself or by what stands beside it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and not _is_of_tests(node):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom):
            for beside in _beside(path, node):
                if beside.is_file() and beside not in seen:
                    yield from imported(beside, seen | {path})


def _is_of_tests(node: ast.ImportFrom) -> bool:
    return (node.module or "").split(".")[0] == TESTS.name


def _beside(path: Path, node: ast.ImportFrom) -> Iterator[Path]:
    base = path.parents[node.level - 1] if node.level else TESTS.parent
    place = base.joinpath(*(node.module or "").split("."))
    yield place.with_suffix(".py")
    yield from (place / f"{alias.name}.py" for alias in node.names)


def test_every_module_has_a_test_of_its_own_or_a_line_that_names_one() -> None:
    without = [module for module in modules() if not (TESTS / own_test(module)).exists()]
    unsaid = sorted(set(without) - set(COVERED) - set(BY_NAME))
    assert not unsaid, f"no test file, and no line in {Path(__file__).name}: {', '.join(unsaid)}"


def test_no_line_is_of_a_module_that_is_gone_or_has_a_test_by_now() -> None:
    there = set(modules())
    stale = [
        module
        for module in {**COVERED, **BY_NAME}
        if module not in there or (TESTS / own_test(module)).exists()
    ]
    assert not stale, f"take out of {Path(__file__).name}: {', '.join(stale)}"
    assert not set(COVERED) & set(BY_NAME)


@pytest.mark.parametrize("test", sorted({*COVERED.values(), *BY_NAME.values()}))
def test_every_test_that_is_named_is_there(test: str) -> None:
    assert (TESTS / test).is_file()


def test_the_named_test_reaches_the_module() -> None:
    graph = grimp.build_graph("streamgauge")
    of_test = {test: set(imported(TESTS / test)) for test in set(COVERED.values())}
    unreached = []
    for module, test in COVERED.items():
        near = {dotted(module)}
        for _ in range(MOST_STEPS):
            near |= {importer for each in near for importer in graph.find_modules_that_directly_import(each)}
        if not near & of_test[test]:
            unreached.append(f"{module}: not by {test}")
    assert not unreached, "\n".join(unreached)
