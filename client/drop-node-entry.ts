// The entry `@moneta/client/drop-node` of the package: mints a folder of files. For Node only.
export { checkDrop, type Drop, type DropOptions, type DropPlan, runDrop, type RunOptions } from "./drop-node/drop.ts";
export type { DropChecks, DropToken, MediaFile } from "./drop-node/files.ts";
export { DropStopped } from "./drop-node/stopped.ts";
