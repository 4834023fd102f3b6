import { freePort } from "../scene/free-port.ts";

export { freePort };
