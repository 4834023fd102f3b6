import { randomBytes } from "node:crypto";
export const MIB = 1_048_576;
const LABEL_BYTES = 64;
/** Different bytes for every name, because equal blocks are stored once. @param size whole MiB. */
export function* bytesOf(name, size) {
    const noise = randomBytes(MIB);
    for (let sent = 0; sent < size; sent += MIB) {
        const chunk = Buffer.from(noise);
        chunk.write(name.padEnd(LABEL_BYTES));
        chunk.writeUInt32LE(sent / MIB, LABEL_BYTES);
        yield chunk;
    }
}
