import { send } from "./send.ts";

send(0);
process.exitCode = 1;
