import { setTimeout as pause } from "node:timers/promises";
const LONGEST_MS = 90_000;
const POLL_MS = 50;
/**
 * Waits until an expression is true in the page. `page.waitForFunction` evaluates again inside the page, which the content
 * security policy of the console forbids. @throws after 90 s
 */
export async function waitUntil(page, expression) {
    const end = performance.now() + LONGEST_MS;
    while ((await page.evaluate(`Boolean(${expression})`)) !== true) {
        if (performance.now() > end)
            throw new Error(`Not true in the page within ${LONGEST_MS.toString()} ms: ${expression}`);
        await pause(POLL_MS);
    }
}
