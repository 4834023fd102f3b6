import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { clientTypes } from "./types.ts";

/** `npm run client`: writes the types of the client anew. */
writeFileSync(fileURLToPath(new URL("../../api/client/document.ts", import.meta.url)), await clientTypes());
