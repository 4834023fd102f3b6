import { Cleanups } from "../../scripts/scene/cleanups.ts";

export { Cleanups };
