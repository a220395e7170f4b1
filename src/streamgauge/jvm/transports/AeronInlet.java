package streamgauge.transports;

import io.aeron.FragmentAssembler;
import io.aeron.Subscription;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import org.agrona.DirectBuffer;

/** One stream to receive from. */
public final class AeronInlet implements Inlet {
    private static final int MOST_FRAGMENTS = 64;

    private final AeronClient client;
    private final Subscription subscription;
    private final FragmentHandler handler = new FragmentAssembler(this::take);
    private byte[] bytes = new byte[Orders.MOST_BYTES];
    private Sink sink;

    public AeronInlet(AeronClient client, String channel, int stream) {
        this.client = client;
        this.subscription = client.subscribe(channel, stream);
    }

    @Override
    public int poll(Sink to) {
        sink = to;
        int found = subscription.poll(handler, MOST_FRAGMENTS);
        if (found == 0 && subscription.isClosed()) {
            throw client.whyClosed("the subscription");
        }
        return found;
    }

    private void take(DirectBuffer buffer, int offset, int length, Header header) {
        if (length > bytes.length) {
            bytes = new byte[2 * length];
        }
        buffer.getBytes(offset, bytes, 0, length);
        sink.take(bytes, length, header.position() - 1, 0, 0);
    }

    /** Subscribed; publishers find it by themselves. */
    @Override
    public boolean isReady() {
        return !subscription.isClosed();
    }

    @Override
    public void close() {
        subscription.close();
    }
}
