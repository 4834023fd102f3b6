import { signal } from "@preact/signals";
/** How many uploads are remembered: the newest ones. A batch of tokens has no more. */
const UPLOADS = 1_000;
const uploads = new Map();
/** The last call that changed something. null: none yet. */
export const lastWrite = signal(null);
export function uploaded(upload) {
    uploads.delete(upload.uri);
    uploads.set(upload.uri, upload);
    const [oldest] = uploads.keys();
    if (uploads.size > UPLOADS && oldest !== undefined)
        uploads.delete(oldest);
}
/** The uploads that a JSON body names, each once. */
export function uploadsIn(body) {
    const uris = new Set([...body.matchAll(/"(ipfs:\/\/[^"\\]+)"/g)].map(([, uri = ""]) => uri));
    return [...uris].flatMap((uri) => uploads.get(uri) ?? []);
}
export function recorded(call) {
    lastWrite.value = call;
}
