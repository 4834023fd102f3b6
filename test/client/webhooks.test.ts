import { expect } from "chai";
import { Webhook } from "standardwebhooks";

import { WebhookRefused } from "../../client/errors.ts";
import { verifyWebhook, type WebhookHeaders } from "../../client/webhooks.ts";
import { rejectionOf } from "../support/rejection.ts";

const [SECRET, OTHER] = ["the secret of the webhook", "another secret"].map(
  (text) => `whsec_${Buffer.from(text).toString("base64")}`,
) as [string, string];
const BODY = '{"id":"7","type":"completed","request_id":"ab","name":"Müller"}';
const NOW = 1_900_000_000_000;

/** The headers of a delivery, made by the library that the service signs with. */
function signedHeaders(secrets: string[], body = BODY, time = NOW): Record<string, string> {
  return {
    "webhook-id": "7",
    "webhook-timestamp": (time / 1_000).toString(),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign("7", new Date(time), body)).join(" "),
  };
}

function verify(headers: WebhookHeaders, secrets: string | string[] = SECRET, body: string | Uint8Array = BODY) {
  return verifyWebhook(body, headers, secrets, { now: () => NOW });
}

async function problemOf(verification: Promise<unknown>): Promise<string> {
  return verification.then(
    () => "none",
    (error: unknown) => {
      if (error instanceof WebhookRefused) return error.problem;
      throw error;
    },
  );
}

describe("verifyWebhook", () => {
  describe("given a genuine delivery", () => {
    const event = JSON.parse(BODY) as object;

    it("returns the event for text and for bytes, for headers of fetch and of Node", async () => {
      const headers = signedHeaders([SECRET]);
      const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
      const foreign = { get: (name: string) => headers[name] ?? null };
      for (const form of [headers, upper, new Headers(headers), foreign]) {
        for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)]) {
          expect(await verify(form, SECRET, body)).to.deep.equal(event);
        }
      }
    });

    it("accepts it while secrets change, on either side", async () => {
      expect(await verify(signedHeaders([OTHER, SECRET]), SECRET)).to.deep.equal(event);
      expect(await verify(signedHeaders([SECRET]), [OTHER, SECRET])).to.deep.equal(event);
      expect(await verify(signedHeaders([SECRET]), SECRET.slice("whsec_".length))).to.deep.equal(event);
    });

    it("accepts a difference of the clocks up to the tolerance", async () => {
      for (const difference of [-300_000, 300_000]) {
        expect(await verify(signedHeaders([SECRET], BODY, NOW + difference))).to.deep.equal(event);
      }
    });
  });

  for (const [what, problem, headers, body] of [
    ["another secret", "signature", signedHeaders([OTHER]), BODY],
    ["a changed body", "signature", signedHeaders([SECRET]), BODY.replace("completed", "error")],
    ["another id", "signature", { ...signedHeaders([SECRET]), "webhook-id": "8" }, BODY],
    ["another time", "signature", { ...signedHeaders([SECRET]), "webhook-timestamp": "1900000001" }, BODY],
    [
      "a signature of an unknown version",
      "signature",
      {
        ...signedHeaders([SECRET]),
        "webhook-signature": signedHeaders([SECRET])["webhook-signature"]!.replace("v1", "v2"),
      },
      BODY,
    ],
    ["a signature that is not base64", "signature", { ...signedHeaders([SECRET]), "webhook-signature": "v1,%%" }, BODY],
    ["a short signature", "signature", { ...signedHeaders([SECRET]), "webhook-signature": "v1,AAAA v1,  " }, BODY],
    ["an old time", "timestamp", signedHeaders([SECRET], BODY, NOW - 301_000), BODY],
    ["a time in the future", "timestamp", signedHeaders([SECRET], BODY, NOW + 301_000), BODY],
    ["a time that is no number", "timestamp", { ...signedHeaders([SECRET]), "webhook-timestamp": "1e9" }, BODY],
    ["no signature", "headers", { ...signedHeaders([SECRET]), "webhook-signature": undefined }, BODY],
    ["an empty id", "headers", { ...signedHeaders([SECRET]), "webhook-id": "" }, BODY],
    ["a signed body that is no JSON", "payload", signedHeaders([SECRET], "completed"), "completed"],
    ["a signed body that is no event", "payload", signedHeaders([SECRET], "[1]"), "[1]"],
  ] as const) {
    it(`refuses ${what} (${problem})`, async () => {
      expect(await problemOf(verify(headers, SECRET, body))).to.equal(problem);
    });
  }

  it("tells the developer about a secret that cannot be one", async () => {
    for (const secret of ["whsec_", "whsec_%%", ""]) {
      const error = await rejectionOf(verify(signedHeaders([SECRET]), secret));
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(WebhookRefused);
      expect(error.message).to.contain("The secret of a webhook is whsec_ and base64.");
    }
  });
});
