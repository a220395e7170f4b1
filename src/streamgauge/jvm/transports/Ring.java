package streamgauge.transports;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Bytes from one process to another: how many were written and read so far, each on a line of its own, then the bytes. */
final class Ring {
    private static final int WRITTEN = 0;
    private static final int READ = 128;
    private static final int DATA = 256;
    private static final VarHandle LONGS =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    final int capacity;
    private final MappedByteBuffer memory;

    Ring(String file) throws IOException {
        try (FileChannel channel =
                FileChannel.open(Path.of(file), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
        }
        memory.order(ByteOrder.LITTLE_ENDIAN);
        capacity = memory.capacity() - DATA;
    }

    long written() {
        return (long) LONGS.getAcquire(memory, WRITTEN);
    }

    void written(long bytes) {
        LONGS.setRelease(memory, WRITTEN, bytes);
    }

    long read() {
        return (long) LONGS.getAcquire(memory, READ);
    }

    void read(long bytes) {
        LONGS.setRelease(memory, READ, bytes);
    }

    void put(long position, byte[] bytes, int length) {
        int from = (int) (position % capacity);
        int first = Math.min(length, capacity - from);
        memory.put(DATA + from, bytes, 0, first);
        memory.put(DATA, bytes, first, length - first);
    }

    void get(long position, byte[] bytes, int length) {
        int from = (int) (position % capacity);
        int first = Math.min(length, capacity - from);
        memory.get(DATA + from, bytes, 0, first);
        memory.get(DATA, bytes, first, length - first);
    }

    void putInt(long position, int value) {
        for (int i = 0; i < Integer.BYTES; i++) {
            memory.put(DATA + (int) ((position + i) % capacity), (byte) (value >>> 8 * i));
        }
    }

    int getInt(long position) {
        int value = 0;
        for (int i = 0; i < Integer.BYTES; i++) {
            value |= (memory.get(DATA + (int) ((position + i) % capacity)) & 0xff) << 8 * i;
        }
        return value;
    }
}
