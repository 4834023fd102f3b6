import { answerOf } from "../../../../client/client.ts";
import { check, TourError } from "../check.ts";
/**
 * Milliseconds to wait for a delivery. A call whose connection is lost has 15 seconds for its answer, and is made again 5 seconds
 * later: the tour waits for the second try as well.
 */
const TIMEOUT = 45_000;
export async function registerWebhook({ api, webhooks, report }) {
    report.step("Register a webhook");
    const { secret } = await answerOf(api.PUT("/v1/webhook", { body: { url: webhooks.url } }));
    check(secret !== null, "the API returned no signing secret");
    webhooks.trust(secret);
    report.line(`events go to ${webhooks.url}; the API returned the signing secret, once`);
}
/** Checks that one webhook reported the outcome of every request. */
export async function checkWebhooks({ api, webhooks, requests, report, signal }) {
    report.step("Check the webhooks");
    for (const requestId of requests.ids) {
        const outcome = await webhooks.outcome(requestId, TIMEOUT, signal);
        if (outcome !== null)
            continue;
        const log = await deliveriesOf(api, requestId);
        throw new TourError(`The tour failed: no webhook reported the outcome of request ${requestId}. ${log}.`);
    }
    const completed = webhooks.events.filter(({ type }) => type === "completed");
    check(completed.length === requests.ids.length, `${completed.length} webhooks reported ${requests.ids.length} requests`);
    check(webhooks.refused === 0, `${webhooks.refused} webhooks had an invalid signature`);
    report.result(`${webhooks.events.length} events arrived, all with a valid signature`);
    report.line(`${completed.length} of them are "completed" events: one for each request of this tour`);
    // The receiver stops with the tour.
    await answerOf(api.DELETE("/v1/webhook"));
}
/** What the service's log says of the deliveries of a request, newest first. */
export async function deliveriesOf(api, requestId) {
    const found = [];
    for (let query = {}; query !== null;) {
        const page = await answerOf(api.GET("/v1/webhook/deliveries", { params: { query } }));
        found.push(...page.deliveries.filter(({ request_id }) => request_id === requestId).map(lineOf));
        query = page.next === null ? null : { cursor: page.next };
    }
    return found.length === 0 ? "The service has no delivery of it" : `Its deliveries: ${found.join("; ")}`;
}
function lineOf({ event_type: type, status, attempts, error, next_attempt_at: next }) {
    const reason = error === null ? "" : `, last error "${error}"`;
    return `"${type}" ${status}, tries ${attempts}${reason}${next === null ? "" : `, next try at ${next}`}`;
}
