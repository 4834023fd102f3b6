import { NodeProcess } from "../scene/node.ts";

export { NodeProcess };
