import { freePort } from "../scene/loopback.ts";

export { freePort };
