// The entry `@moneta/client/drop` of the package: reads folders and tables of tokens, in Node and in browsers.
export { checkArrivals } from "./drop/arrivals.ts";
export {
  type Folder,
  type FolderContents,
  type FolderToken,
  type Owner,
  type Problem,
  readFolder,
} from "./drop/folder.ts";
export { lackOfRoom, makePlan, type Plan, type PlannedToken, plannedTokens, type Target } from "./drop/plan.ts";
export { FolderProblem, textNames } from "./drop/layout.ts";
export { checkReceivers, type KnownUsers, type Receivers, usersOf } from "./drop/receivers.ts";
export { textOfBytes } from "./drop/text.ts";
export { lookUpUsers } from "./drop/users.ts";
