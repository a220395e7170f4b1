package streamgauge.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Partitions by the numbers that Python knows topics by, and where each is read from. */
final class Places {
    private static final Duration POSITION_DEADLINE = Duration.ofSeconds(10);

    private final String[] topics;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final Map<TopicPartition, Long> start = new HashMap<>();
    private int dealtCount;

    Places(String[] topics) {
        this.topics = topics;
        for (int number = 0; number < topics.length; number++) {
            numbers.put(topics[number], number);
        }
    }

    int number(String topic) {
        return numbers.get(topic);
    }

    void assign(KafkaConsumer<?, ?> consumer, long[] triples) {
        remember(triples);
        consumer.assign(start.keySet());
        seek(consumer, start.keySet());
    }

    void subscribe(KafkaConsumer<?, ?> consumer, long[] triples) {
        remember(triples);
        consumer.subscribe(List.of(topics), new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> revoked) {}

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
                dealtCount++;
                seek(consumer, assigned);
            }
        });
    }

    /** Rebalances are told to the thread that polls, which is the one that asks. */
    int dealtCount() {
        return dealtCount;
    }

    private void remember(long[] triples) {
        start.clear();
        for (int i = 0; i < triples.length; i += 3) {
            start.put(new TopicPartition(topics[(int) triples[i]], (int) triples[i + 1]), triples[i + 2]);
        }
    }

    private void seek(KafkaConsumer<?, ?> consumer, Collection<TopicPartition> places) {
        for (TopicPartition place : places) {
            consumer.seek(place, start.getOrDefault(place, 0L));
        }
    }

    boolean endsKnown(KafkaConsumer<?, ?> consumer) {
        Set<TopicPartition> assigned = consumer.assignment();
        return !assigned.isEmpty() && assigned.stream().allMatch(place -> consumer.currentLag(place).isPresent());
    }

    long[] positions(KafkaConsumer<?, ?> consumer) {
        Set<TopicPartition> assigned = consumer.assignment();
        long[] triples = new long[3 * assigned.size()];
        int at = 0;
        for (TopicPartition place : assigned) {
            triples[at++] = numbers.get(place.topic());
            triples[at++] = place.partition();
            triples[at++] = consumer.position(place, POSITION_DEADLINE);
        }
        return triples;
    }
}
