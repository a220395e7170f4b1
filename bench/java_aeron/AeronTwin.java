import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.UnsafeBuffer;
import streamgauge.orders.OrderProto.Order;

/**
 * Orders through Aeron as a plain Java program would send them: open loop, nanosecond clock, intended time in the order.
 * A process for each side. The subscriber prints the latency of every order after the warm-up, in ns.
 */
public class AeronTwin {
    public static void main(String[] args) throws Exception {
        String side = args[0], directory = args[1], channel = args[2];
        int stream = Integer.parseInt(args[3]), rate = Integer.parseInt(args[4]);
        int messages = Integer.parseInt(args[5]), warmUp = Integer.parseInt(args[6]);
        Aeron.Context context = new Aeron.Context().aeronDirectoryName(directory);
        try (Aeron aeron = Aeron.connect(context)) {
            if (side.equals("publish")) {
                publish(aeron.addExclusivePublication(channel, stream), rate, messages + warmUp);
            } else {
                subscribe(aeron.addSubscription(channel, stream), rate, messages, warmUp);
            }
        }
    }

    private static void publish(ExclusivePublication publication, int rate, int total) throws Exception {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (!publication.isConnected()) {
            if (System.nanoTime() > deadline) throw new IllegalStateException("nobody subscribes");
            Thread.sleep(1);
        }
        UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(256));
        long start = System.nanoTime() + 500_000_000L;
        for (int k = 0; k < total; k++) {
            long intended = start + k * 1_000_000_000L / rate;
            for (long left; (left = intended - System.nanoTime()) > 0;) {
                if (left > 120_000) LockSupport.parkNanos(left - 120_000);
                else Thread.yield();
            }
            byte[] bytes = Order.newBuilder()
                    .setOwner(1).setSequence(k).setIntendedNs(intended).setChecksum(k)
                    .setInstrument("ABCDEFGH").setSideValue(1 + k % 2).setPrice(1000 + k).setQuantity(200)
                    .setAccount("0123456789ABCDEF").build().toByteArray();
            buffer.putBytes(0, bytes);
            while (publication.offer(buffer, 0, bytes.length) < 0) Thread.yield();
        }
        Thread.sleep(500);
    }

    private static void subscribe(Subscription subscription, int rate, int messages, int warmUp) {
        int total = messages + warmUp;
        long[] latency = new long[total];
        int[] got = {0};
        byte[] bytes = new byte[256];
        FragmentHandler handler = (buffer, offset, length, header) -> {
            buffer.getBytes(offset, bytes, 0, length);
            try {
                Order order = Order.parseFrom(ByteBuffer.wrap(bytes, 0, length));
                latency[got[0]++] = System.nanoTime() - order.getIntendedNs();
            } catch (java.io.IOException damaged) {
                throw new IllegalStateException(damaged);
            }
        };
        long deadline = System.nanoTime() + (60L + 2L * total / rate) * 1_000_000_000L;
        while (got[0] < total && System.nanoTime() < deadline) {
            if (subscription.poll(handler, 64) == 0) Thread.yield();
        }
        StringBuilder printed = new StringBuilder();
        for (int k = warmUp; k < got[0]; k++) printed.append(latency[k]).append('\n');
        System.out.print(printed);
    }
}
