package streamgauge.transports;

import io.aeron.ExclusivePublication;
import io.aeron.Publication;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/** One stream to publish to. A message lies before the position that the publication then has. */
public final class AeronOutlet implements Outlet {
    private final AeronClient client;
    private final ExclusivePublication publication;
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private ByteBuffer memory;
    private ByteBuffer places;

    public AeronOutlet(AeronClient client, String channel, int stream) {
        this.client = client;
        this.publication = client.publish(channel, stream);
    }

    @Override
    public long offer(long sequence, byte[] bytes, int length) {
        buffer.wrap(bytes, 0, length);
        return place(publication.offer(buffer, 0, length));
    }

    /** For `offerAll`: where Python writes messages, and where it reads their places. */
    public void setMemory(ByteBuffer messages, ByteBuffer itsPlaces) {
        memory = messages.order(ByteOrder.nativeOrder());
        places = itsPlaces.order(ByteOrder.nativeOrder());
    }

    /** Offer many at once: memory holds the lengths (int) of all, then their bytes. How many were taken. */
    public int offerAll(int count) {
        buffer.wrap(memory);
        int at = count * Integer.BYTES;
        for (int row = 0; row < count; row++) {
            int length = memory.getInt(row * Integer.BYTES);
            long place = place(publication.offer(buffer, at, length));
            if (place == REFUSED) {
                return row;
            }
            places.putLong(row * Long.BYTES, place);
            at += length;
        }
        return count;
    }

    private long place(long position) {
        if (position > 0) {
            return position - 1;
        }
        if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
            throw client.whyClosed("the publication");
        }
        return REFUSED;
    }

    public boolean isConnected() {
        return publication.isConnected();
    }

    public int mostBytes() {
        return publication.maxMessageLength();
    }

    @Override
    public void close() {
        publication.close();
    }
}
