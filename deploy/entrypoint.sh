#!/bin/sh
# Kubernetes starts Spark's executors with the one word `executor` and the rest in the environment;
# everything else is a streamgauge command.
set -eu

if [ "${1:-}" != executor ]; then
  exec streamgauge "$@"
fi

# SPARK_JAVA_OPT_0, _1 … hold one option each; none of ours has a newline in it.
options=$(env | sed -n 's/^SPARK_JAVA_OPT_[0-9]*=//p')
IFS='
'
# shellcheck disable=SC2086  # one option a line
exec java $options \
  "-Xms${SPARK_EXECUTOR_MEMORY}" "-Xmx${SPARK_EXECUTOR_MEMORY}" \
  -cp "${SPARK_CLASSPATH:-}:${SPARK_HOME}/jars/*" \
  org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
  --driver-url "${SPARK_DRIVER_URL}" \
  --executor-id "${SPARK_EXECUTOR_ID}" \
  --cores "${SPARK_EXECUTOR_CORES}" \
  --app-id "${SPARK_APPLICATION_ID}" \
  --hostname "${SPARK_EXECUTOR_POD_IP}" \
  --resourceProfileId "${SPARK_RESOURCE_PROFILE_ID:-0}" \
  --podName "${SPARK_EXECUTOR_POD_NAME}"
