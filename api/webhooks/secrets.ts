import { z } from "zod";

import type { Sealer } from "../keys/sealer.ts";

const schema = z.array(z.object({ secret: z.string(), expires_at: z.number().nullable() }));

/** Signing secrets of a webhook, newest first; two are live while one is rotated out. */
export type WebhookSecrets = z.infer<typeof schema>;

export async function openSecrets(sealer: Sealer, sealed: string): Promise<WebhookSecrets> {
  return schema.parse(JSON.parse(await sealer.open(sealed)));
}
