package streamgauge.transports;

import java.io.IOException;

/** The other end of {@link RingOutlet}. */
public final class RingInlet implements Inlet {
    private final Ring ring;
    private byte[] bytes = new byte[Orders.MOST_BYTES];
    private long read;

    public RingInlet(String file) throws IOException {
        ring = new Ring(file);
        read = ring.read();
    }

    @Override
    public int poll(Sink sink) {
        long end = ring.written();
        int count = 0;
        while (read < end) {
            int length = ring.getInt(read);
            if (length > bytes.length) {
                bytes = new byte[2 * length];
            }
            ring.get(read + Integer.BYTES, bytes, length);
            read += Integer.BYTES + length;
            ring.read(read);
            sink.take(bytes, length, read - 1, 0, 0);
            count++;
        }
        return count;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void close() {}
}
