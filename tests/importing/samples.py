"""Small files of other tools, as these write them."""

from __future__ import annotations

import json

PRODUCER_PERF = """\
25001 records sent, 5000.2 records/sec (4.88 MB/sec), 12.4 ms avg latency, 410.0 ms max latency.
25000 records sent, 4999.0 records/sec (4.88 MB/sec), 1.1 ms avg latency, 22.0 ms max latency.
50001 records sent, 4999.6 records/sec (4.88 MB/sec), 6.74 ms avg latency, 410.00 ms max latency, \
1 ms 50th, 18 ms 95th, 205 ms 99th, 390 ms 99.9th.
"""
CONSUMER_PERF = """\
start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, \
fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec
2026-01-02 03:04:05:100, 2026-01-02 03:04:07:600, 47.6837, 19.0735, 50000, 20000.0000, 320, 2180, 21.8733, \
22935.7798
"""
CONSUMER_PERF_DETAILED = """\
time, threadId, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, \
fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec
2026-01-02 03:04:05:000, 0, 9.5367, 9.5367, 10000, 10000.0000, 320, 680, 14.0246, 14705.8824
2026-01-02 03:04:06:000, 0, 28.6102, 19.0735, 30000, 20000.0000, 0, 1000, 19.0735, 20000.0000
"""
END_TO_END = """\
0\t31.4
1000\t0.7
Avg latency: 0.7314 ms

Percentiles: 50th = 0, 99th = 2, 99.9th = 10
"""
OMB = json.dumps(
    {
        "workload": "1 topic, 16 partitions, 1KB",
        "driver": "Kafka",
        "messageSize": 1024,
        "topics": 1,
        "partitions": 16,
        "producersPerTopic": 2,
        "consumersPerTopic": 1,
        "publishRate": [1000.0, 3000.0],
        "publishErrorRate": [0.0, 0.0],
        "consumeRate": [900.0, 3100.0],
        "backlog": [0, 12],
        "publishLatencyAvg": [1.5, 1.7],
        "publishLatency99pct": [4.0, 5.0],
        "publishLatencyMax": [9.0, 8.0],
        "endToEndLatencyAvg": [2.5, 2.7],
        "endToEndLatency99pct": [6.0, 7.0],
        "endToEndLatencyMax": [11.0, 12.0],
        "aggregatedPublishLatencyAvg": 1.6,
        "aggregatedPublishLatency50pct": 1.4,
        "aggregatedPublishLatency99pct": 4.5,
        "aggregatedPublishLatency999pct": 8.5,
        "aggregatedPublishLatencyMax": 9.0,
        "aggregatedPublishLatencyQuantiles": {"0.0": 1.0, "50.0": 1.4, "99.0": 4.5, "100.0": 9.0},
        "aggregatedPublishDelayLatencyAvg": 120.0,
        "aggregatedPublishDelayLatency99pct": 900.0,
        "aggregatedPublishDelayLatencyMax": 2000,
        "aggregatedPublishDelayLatencyQuantiles": {"50.0": 100, "100.0": 2000},
        "aggregatedEndToEndLatencyAvg": 2.6,
        "aggregatedEndToEndLatency50pct": 2.0,
        "aggregatedEndToEndLatency99pct": 6.5,
        "aggregatedEndToEndLatency999pct": 10.0,
        "aggregatedEndToEndLatencyMax": 12.0,
        "aggregatedEndToEndLatencyQuantiles": {"0.0": 1.0, "50.0": 2.0, "99.0": 6.5, "100.0": 12.0},
    }
)
K6 = """\
metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,\
service,status,subproto,tls_version,url,extra_tags,metadata
http_reqs,1700000000,1.000000,,,,true,,GET,"http://a/x,y",HTTP/1.1,default,,200,,,"http://a/x,y",,
http_req_duration,1700000000,10.000000,,,,true,,GET,http://a,HTTP/1.1,default,,200,,,http://a,,
http_req_failed,1700000000,0.000000,,,,true,,GET,http://a,HTTP/1.1,default,,200,,,http://a,,
http_reqs,1700000001,1.000000,,,,false,,GET,http://a,HTTP/1.1,default,,500,,,http://a,,
http_req_duration,1700000001,30.000000,,,,false,,GET,http://a,HTTP/1.1,default,,500,,,http://a,,
http_req_failed,1700000001,1.000000,,,,false,,GET,http://a,HTTP/1.1,default,,500,,,http://a,,
iteration_duration,1700000001,41.500000,,,,,,,,,default,,,,,,,
"""
LOCUST = """\
Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,\
Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%
GET,/orders,600,3,35,40.5,10,900,2000,5.0,0.1,35,40,45,50,60,74,90,120,300,900,900
POST,/orders,600,0,5,9.5,1,90,20,5.04,0.0,5,6,7,8,9,10,11,12,30,90,90
,Aggregated,1200,3,20,25,1,900,900,10.04,0.1,20,22,25,30,40,63,80,150,300,900,900
"""
LOCUST_HISTORY = """\
Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%,\
Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time,\
Total Min Response Time,Total Max Response Time,Total Average Content Size
1700000000,5,,Aggregated,0.000000,0.000000,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,0,0,0,0,0,0,0
1700000002,5,,Aggregated,12.500000,0.000000,20,22,25,30,40,63,80,150,300,900,900,25,1,20,25.5,1,900,100
"""
KAFKA_PERF = """\
Topic, Prtn, MsgSize, Messages, MinLat, MaxLat, AvgLat, Kbps, Msgps, Runtime
  1,   4,     64,     64,     94,    897,    269,     1.1,    18.1,    14.2
  1,   4,     64,     64,     94,    552,    223,     1.7,    27.1,     9.4
"""
KNET = """\
NumPackets;Length;KNETProd;KNETCons;ConfluentProd;ConfluentCons
10;100;2000;8000;20000;9000
10;100;4000;10000;22000;9500
100;100;9000;0;21000;0
"""
