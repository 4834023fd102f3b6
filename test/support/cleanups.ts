import { Cleanups } from "../../scripts/scene/scene.ts";

export { Cleanups };
