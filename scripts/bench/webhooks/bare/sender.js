import { createHmac, createSecretKey } from "node:crypto";
import { Agent, request } from "undici";
/**
 * The bare loop: signs and posts given bodies, and does nothing else. It keeps its connections. It runs as a separate process,
 * like the service. Each message is an errand, which it answers when all of it is delivered.
 */
const agent = new Agent();
async function send({ letters, targets, atOnce }) {
    const keys = targets.map(({ secret }) => createSecretKey(secret.slice("whsec_".length), "base64"));
    let next = 0;
    const one = async () => {
        for (let letter = letters[next++]; letter !== undefined; letter = letters[next++]) {
            const [target, key] = [targets[letter.target], keys[letter.target]];
            if (target === undefined || key === undefined)
                throw new Error("there is no such target");
            const { id, payload } = letter;
            const at = Math.floor(Date.now() / 1000).toString();
            const signature = createHmac("sha256", key).update(`${id}.${at}.${payload}`).digest("base64");
            const response = await request(target.url, {
                method: "POST",
                headers: {
                    "webhook-id": id,
                    "webhook-timestamp": at,
                    "webhook-signature": `v1,${signature}`,
                    "content-type": "application/json",
                },
                body: payload,
                dispatcher: agent,
            });
            await response.body.dump();
            if (response.statusCode !== 204)
                throw new Error(`answered ${response.statusCode.toString()}`);
        }
    };
    await Promise.all(Array.from({ length: atOnce }, one));
}
process.on("message", (errand) => {
    void send(errand).then(() => process.send?.({}));
});
process.on("disconnect", () => process.exit());
