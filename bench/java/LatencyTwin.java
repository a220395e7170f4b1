import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The latency test as a plain Java program would do it: open loop, nanosecond clock, intended time in the
 * message. Prints the latency of every message after the warm-up, in ns; a message that did not come ends it
 * with an error, and never counts as a latency.
 */
public class LatencyTwin {
    private static final long MISSING = Long.MIN_VALUE;
    private static final String SOCKET_BYTES = "2097152";
    /** So long before a message is due it looks at the clock instead of sleeping, as our agent does. */
    private static final long SPIN_NS = 50_000;

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0], topic = args[1];
        int size = Integer.parseInt(args[2]), rate = Integer.parseInt(args[3]);
        int messages = Integer.parseInt(args[4]), warmUp = Integer.parseInt(args[5]), total = messages + warmUp;
        long[] latency = new long[total];
        Arrays.fill(latency, MISSING);

        Properties consuming = new Properties();
        consuming.put("bootstrap.servers", bootstrap);
        consuming.put("fetch.min.bytes", "1");
        consuming.put("fetch.max.wait.ms", "100");
        consuming.put("enable.auto.commit", "false");
        // Neither side checks the broker's sums.
        consuming.put("check.crcs", "false");
        consuming.put("send.buffer.bytes", SOCKET_BYTES);
        consuming.put("receive.buffer.bytes", SOCKET_BYTES);
        KafkaConsumer<byte[], byte[]> consumer =
            new KafkaConsumer<>(consuming, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        TopicPartition place = new TopicPartition(topic, 0);
        consumer.assign(List.of(place));
        consumer.seekToEnd(List.of(place));
        consumer.position(place);
        consumer.poll(Duration.ofMillis(500));
        Thread reader = new Thread(() -> {
            long deadline = System.nanoTime() + (60L + total / rate) * 1_000_000_000L;
            for (int got = 0; got < total && System.nanoTime() < deadline;) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    ByteBuffer value = ByteBuffer.wrap(record.value());
                    long intended = value.getLong();
                    int number = value.getInt();
                    if (latency[number] == MISSING) {
                        latency[number] = System.nanoTime() - intended;
                        got++;
                    }
                }
            }
        });

        Properties producing = new Properties();
        producing.put("bootstrap.servers", bootstrap);
        producing.put("linger.ms", "0");
        producing.put("acks", "1");
        producing.put("send.buffer.bytes", SOCKET_BYTES);
        producing.put("receive.buffer.bytes", SOCKET_BYTES);
        KafkaProducer<byte[], byte[]> producer =
            new KafkaProducer<>(producing, new ByteArraySerializer(), new ByteArraySerializer());
        producer.partitionsFor(topic);
        byte[] body = new byte[size];
        new Random(1).nextBytes(body);
        reader.start();
        long start = System.nanoTime() + 500_000_000L;
        for (int k = 0; k < total; k++) {
            long intended = start + k * 1_000_000_000L / rate;
            for (long left; (left = intended - System.nanoTime()) > 0;) {
                if (left > SPIN_NS) LockSupport.parkNanos(left - SPIN_NS);
                else Thread.onSpinWait();
            }
            byte[] value = body.clone();
            ByteBuffer.wrap(value).putLong(intended).putInt(k);
            producer.send(new ProducerRecord<>(topic, value), (metadata, error) -> {
                if (error != null) error.printStackTrace();
            });
        }
        producer.flush();
        reader.join();
        StringBuilder printed = new StringBuilder();
        int missing = 0;
        for (int k = 0; k < total; k++) {
            if (latency[k] == MISSING) missing++;
            if (k >= warmUp) printed.append(latency[k]).append('\n');
        }
        if (missing > 0) {
            System.err.println(missing + " of " + total + " messages did not come");
            System.exit(1);
        }
        System.out.print(printed);
        producer.close();
        consumer.close();
    }
}
