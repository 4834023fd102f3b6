import { z } from "zod";

import { SCOPES } from "../../commands/api-tokens.ts";
import { time } from "./outputs.ts";

export const sessionCode = z.strictObject({
  code: z.string().min(1).max(200).meta({
    description: "The code of the link that `npm run cli -- console` prints. It works once, within ten minutes.",
  }),
});

export const consoleSession = z
  .object({
    session_id: z
      .string()
      .meta({ description: "Id of the session, for `npm run cli -- console revoke`. It is no secret." }),
    kind: z
      .enum(["app", "operator"])
      .meta({ description: "`app`: the session is for one app. `operator`: it is for all apps." }),
    app: z
      .object({
        app_id: z.string().meta({ description: "Id of the app." }),
        name: z.string().meta({ description: "Name of the app." }),
      })
      .nullable()
      .meta({ description: "The app of the session. null in the operator's session." }),
    scopes: z.array(z.enum(SCOPES)).meta({ description: "What the session may do." }),
    created_at: time.meta({ description: "When the session began." }),
    expires_at: time.meta({ description: "When it ends." }),
    chain_id: z.int().positive().meta({ description: "Id of the service's chain." }),
    explorer_url: z
      .string()
      .nullable()
      .meta({ description: "Block explorer of the chain, for links. null: there is none." }),
    public_url: z.string().meta({ description: "Public URL of the service." }),
  })
  .meta({ id: "ConsoleSession", description: "A session of the console." });

export const endedSession = z.object({}).meta({ id: "EndedSession" });
