import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import okhttp3.internal.cache.DiskLruCache;
import okhttp3.internal.io.FileSystem;
import okio.BufferedSink;
import okio.BufferedSource;
import okio.ByteString;
import okio.Okio;

/**
 * OkHttp's DiskLruCache, for the comparison: reads commands, one a line, and answers each with microseconds per operation.
 * An entry is two files, field lines and body, as in OkHttp's own cache.
 *
 * <p>fill COUNT SIZE | put FIRST COUNT SIZE | get FIRST COUNT SIZE | open COUNT | evict COUNT SIZE
 */
final class DiskLruCachePeer {
    private static final String HEAD =
        "Content-Type: image/jpeg\nCache-Control: public, max-age=31536000\n".repeat(4);

    private static int filled;
    /** Keeps reads from being left out. */
    private static long sink;

    public static void main(String[] arguments) throws IOException {
        File directory = new File(arguments[0], "cache");
        DiskLruCache cache = open(directory);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            int[] numbers = new int[words.length - 1];
            for (int i = 0; i < numbers.length; i++) numbers[i] = Integer.parseInt(words[i + 1]);
            double nanoseconds;
            switch (words[0]) {
                case "fill":
                    filled = numbers[0];
                    nanoseconds = put(cache, 0, filled, numbers[1]);
                    break;
                case "put":
                    // Uses separate numbers, so that the filled entries stay unchanged.
                    nanoseconds = put(cache, 10_000_000 + numbers[0], numbers[1], numbers[2]) / (double) numbers[1];
                    break;
                case "get":
                    nanoseconds = get(cache, numbers[0], numbers[1]) / (double) numbers[1];
                    break;
                case "open":
                    cache.flush();
                    nanoseconds = openOften(directory, numbers[0]) / (double) numbers[0];
                    break;
                case "evict":
                    nanoseconds = evict(new File(arguments[0], "evict"), numbers[0], numbers[1]);
                    break;
                default:
                    throw new IllegalArgumentException(words[0]);
            }
            System.out.println(nanoseconds / 1000);
            System.out.flush();
        }
        cache.close();
        System.exit(0);
    }

    private static DiskLruCache open(File directory) throws IOException {
        DiskLruCache cache = DiskLruCache.create(FileSystem.SYSTEM, directory, 1, 2, Long.MAX_VALUE);
        cache.initialize();
        return cache;
    }

    private static String key(int number) {
        String url = "https://host" + number % 997 + ".example.com/articles/2026/" + number + "/image-large.jpg?v=" + number % 7;
        return ByteString.encodeUtf8(url).md5().hex();
    }

    private static long put(DiskLruCache cache, int first, int count, int size) throws IOException {
        byte[] body = new byte[size];
        for (int i = 0; i < size; i++) body[i] = (byte) (i * 31);
        long start = System.nanoTime();
        for (int number = first; number < first + count; number++) {
            ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN).putLong(number);
            DiskLruCache.Editor editor = cache.edit(key(number));
            try (BufferedSink head = Okio.buffer(editor.newSink(0))) {
                head.writeUtf8(HEAD);
            }
            try (BufferedSink sink = Okio.buffer(editor.newSink(1))) {
                sink.write(body);
            }
            editor.commit();
        }
        return System.nanoTime() - start;
    }

    private static long get(DiskLruCache cache, int first, int count) throws IOException {
        long start = System.nanoTime();
        for (int number = first; number < first + count; number++) {
            try (DiskLruCache.Snapshot snapshot = cache.get(key((int) (number * 7919L % filled)));
                BufferedSource head = Okio.buffer(snapshot.getSource(0));
                BufferedSource body = Okio.buffer(snapshot.getSource(1))) {
                sink += head.readUtf8().length() + body.readByteArray().length;
            }
        }
        return System.nanoTime() - start;
    }

    private static long openOften(File directory, int count) throws IOException {
        long total = 0;
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            open(directory).close();
            total += System.nanoTime() - start;
        }
        return total;
    }

    private static double evict(File directory, int count, int size) throws IOException {
        DiskLruCache cache = open(directory);
        cache.evictAll();
        put(cache, 0, count, size);
        long start = System.nanoTime();
        cache.setMaxSize(cache.size() / 2);
        cache.flush();
        long nanoseconds = System.nanoTime() - start;
        cache.delete();
        return nanoseconds / (count / 2.0);
    }
}
