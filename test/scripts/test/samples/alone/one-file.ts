import { send } from "./send.ts";

send(0);
