/** Pages that are read again after an event. Of a longer list, the rows below are kept, and those that changed are read again. */
const MOST_PAGES = 5;
/**
 * The list after events. A request that changed can come to any place of it, or leave it, so what is shown is read again from the
 * start, and the next page goes on where that ended.
 * @param changed the requests of the events
 */
export async function readListAgain(shown, changed, reads) {
    let read = await reads.page(undefined);
    for (let pages = 1; pages < MOST_PAGES && read.next !== null && read.items.length < shown.items.length; pages++) {
        const { items, next } = await reads.page(read.next);
        read = { items: [...read.items, ...items], next };
    }
    const seen = new Set(read.items.map(idOf));
    const places = new Map(shown.items.map((request, place) => [request.request_id, place]));
    const last = read.items.findLast((request) => places.has(request.request_id));
    // The rows below would not follow: nothing that was shown is among what was read.
    if (read.next === null || read.items.length >= shown.items.length || last === undefined)
        return read;
    const below = shown.items.slice((places.get(last.request_id) ?? 0) + 1).filter((request) => !seen.has(idOf(request)));
    const fresh = await Promise.all(below
        .map(idOf)
        .filter((id) => changed.has(id))
        .map(reads.request));
    const byId = new Map(fresh.map((request) => [request.request_id, request]));
    const kept = below.map((request) => byId.get(request.request_id) ?? request);
    return { items: [...read.items, ...kept.filter(reads.belongs)], next: shown.next };
}
function idOf(request) {
    return request.request_id;
}
