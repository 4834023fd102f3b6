import { send } from "./send.ts";

send(1);
process.exitCode = 1;
