import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { clientTypes } from "./types.ts";
/** `npm run client`: generates the types of the client. */
writeFileSync(fileURLToPath(new URL("../../client/document.ts", import.meta.url)), await clientTypes());
