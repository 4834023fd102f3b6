import { Command } from "commander";

import packageJson from "../../package.json" with { type: "json" };
import { removedSettings } from "../config/removed-settings.ts";
import { PROGRAM, type Terminal, withoutOrders } from "./terminal.ts";

const AFTER = `
Commands work while the service runs. They use the database of DATABASE_URL or DATA_DIR.
\`npm start\` keeps its database in data/local: put DATA_DIR=data/local before the command.

npm prints lines of its own first. For JSON alone: npm run -s cli -- app list --json

Examples:
  ${PROGRAM} app create my-shop        create an app and print its token
  ${PROGRAM} console                   print a link that opens the console
  ${PROGRAM} request list --json       print the newest requests as JSON
  ${PROGRAM} doctor                    find out what is wrong
  ${PROGRAM} token create --help       options and examples of one command`;

/**
 * The command line. A file has a noun with its verbs, such as `app` with `app create`.
 * @param outer as it is. @param words of the command line that will be parsed. Only the commands that they name are loaded, because most commands
 * load the whole service. The others are in the list of commands, and cannot run.
 */
export async function createProgram(outer: Terminal, words: readonly string[]): Promise<Command> {
  const terminal = withoutOrders(outer);
  const program = new Command(PROGRAM)
    .usage("<command> [options]")
    .description("Administers Moneta: apps, tokens, keys, requests and webhooks.")
    .version(packageJson.version, "-V, --version", "print the version")
    .addHelpText("after", AFTER)
    .showHelpAfterError("Add --help to see the usage.")
    .hook("preAction", () => {
      for (const words of removedSettings(terminal.env).warnings) terminal.remark?.(`${words}\n`);
    });
  for (const noun of NOUNS) {
    const { name, alias = name } = noun;
    const isNamed = words.includes(name) || words.includes(alias);
    const command = isNamed ? await noun.load(terminal) : listed(noun);
    program.addCommand(alias === name ? command : command.alias(alias));
  }
  inherit(program);
  return program;
}

/** Makes all commands say how to get help after a wrong option. */
function inherit(parent: Command): void {
  for (const command of parent.commands) inherit(command.copyInheritedSettings(parent));
}

/** A placeholder for the list of all commands, where it looks like the loaded command. */
function listed({ name, description, parameters }: Noun): Command {
  const command = new Command(name).description(description);
  // The list shows no options, only that there are some.
  if (parameters !== null) command.option("--json");
  if (parameters !== null && parameters !== "") command.arguments(parameters);
  return command;
}

/** A first word of the command line: a command, or a group of commands. */
interface Noun {
  name: string;
  /** Another name. */
  alias?: string;
  description: string;
  /** What follows the name in the list of all commands; null for a group. */
  parameters: string | null;
  load: (terminal: Terminal) => Promise<Command>;
}

type Verb = (terminal: Terminal) => Command;

/** In the order of the list. The modules are imported only when their command is called. */
export const NOUNS: readonly Noun[] = [
  single("init", "", "Set up Moneta on a chain: keys, coins, contracts, settings. Then start it.", async () => {
    return (await import("./init/init.ts")).init;
  }),
  single("deploy", "", "Deploy the contracts; running it again is safe.", async () => {
    return (await import("./deploy.ts")).deploy;
  }),
  group("app", "Create, list and remove apps (tenants); set their quotas.", async () => {
    const verbs = await import("./app.ts");
    return [verbs.appCreate, verbs.appList, verbs.appQuota, verbs.appRemove];
  }),
  group("token", "Create, list, rotate and revoke the API tokens of an app.", async () => {
    const verbs = await import("./token.ts");
    return [verbs.tokenCreate, verbs.tokenList, verbs.tokenRotate, verbs.tokenRevoke];
  }),
  group(
    "console",
    "Print a link to the console; list and revoke its sessions.",
    async () => {
      const verbs = await import("./console.ts");
      return [verbs.consoleList, verbs.consoleRevoke];
    },
    // `console` alone prints a link.
    async () => (await import("./console.ts")).consoleLink,
  ),
  group("keys", "Create, check, restore and reuse the seed; rotate the encryption key.", async () => {
    const verbs = await import("./keys.ts");
    return [verbs.keysCreate, verbs.keysCheck, verbs.keysRestore, verbs.keysReuse, verbs.keysRotate];
  }),
  group("request", "Show and list requests of all apps; end one that was never signed; repair one.", async () => {
    const verbs = await import("./request.ts");
    return [verbs.requestShow, verbs.requestList, verbs.requestFail, verbs.requestRepair];
  }),
  {
    ...group("wallet", "Make, import and sweep wallets of users; move coins out of one.", async () => {
      const { walletImport } = await import("./wallet-import.ts");
      const { walletAdopt } = await import("./wallet-adopt.ts");
      const { walletSweep } = await import("./wallet-sweep.ts");
      return [walletAdopt, walletImport, walletSweep, (await import("./wallet.ts")).walletWithdraw];
    }),
    alias: "wallets",
  },
  group("parked", "Try work again that always failed, or at which the process died.", async () => {
    const verbs = await import("./parked.ts");
    return [verbs.parkedRetry];
  }),
  group("webhook", "Show or disable webhooks of an app; list and repeat deliveries.", async () => {
    const verbs = await import("./webhook.ts");
    return [
      verbs.webhookList,
      verbs.webhookShow,
      verbs.webhookDeliveries,
      verbs.webhookRedeliver,
      verbs.webhookDisable,
    ];
  }),
  group(
    "collection",
    "Make contracts that others deployed collections of an app; copy their metadata; mint there.",
    async () => {
      const verbs = await import("./collection.ts");
      const { collectionRescue } = await import("./rescue.ts");
      const { collectionMinting } = await import("./minting.ts");
      return [verbs.collectionAdopt, collectionRescue, collectionMinting];
    },
  ),
  group("contract", "List the contracts of others that apps follow; stop following one.", async () => {
    const verbs = await import("./contract.ts");
    return [verbs.contractList, verbs.contractUnfollow, verbs.contractVerify];
  }),
  group("media", "Move hosted media, and delete what nothing refers to.", async () => {
    const verbs = await import("./media.ts");
    return [verbs.mediaCollect, verbs.mediaMove, verbs.mediaRemoveOld];
  }),
  single("listen", "", "Deliver an app's events to a URL of this machine, signed like webhooks.", async () => {
    return (await import("./listen.ts")).listen;
  }),
  single("drop", "<dir>", "Mint a folder of pictures, with metadata or without.", async () => {
    return (await import("./drop.ts")).drop;
  }),
  single("usage", "", "Show what apps used: requests, gas, fees, media and wallets.", async () => {
    return (await import("./usage.ts")).usage;
  }),
  single(
    "doctor",
    "",
    "Check the chain, keys, lanes, requests, webhooks and media, and say how to fix each problem.",
    async () => {
      return (await import("./doctor.ts")).doctor;
    },
  ),
  group("relay", "Pause the relay, change its operators, cancel requests; the owner of the relay signs.", async () => {
    return (await import("./relay.ts")).relayVerbs;
  }),
  single("top-up", "", "Print the addresses of the lanes, their balances, and for how long these last.", async () => {
    return (await import("./top-up.ts")).topUp;
  }),
  single("reconcile", "", "Compare the database with the chain and repair every difference.", async () => {
    return (await import("./reconcile.ts")).reconcile;
  }),
  single("backup", "<dir>", "Back up database, hosted media and deployment file into an empty folder.", async () => {
    return (await import("./backup.ts")).backup;
  }),
  single("restore", "<dir>", "Restore a backup into the empty places that the settings name.", async () => {
    return (await import("./backup.ts")).restore;
  }),
  single("export", "<dir>", "Write everything of an app into an empty folder, to go on elsewhere.", async () => {
    return (await import("./export.ts")).exportAll;
  }),
  single("import", "<dir>", "Bring an export of another installation, on the same chain, into an app.", async () => {
    return (await import("./import.ts")).importAll;
  }),
  single("prune", "", "Delete rows that are older than RETAIN_DAYS and RETAIN_FAILED_DAYS allow.", async () => {
    return (await import("./database.ts")).prune;
  }),
  single("migrate", "", "Create the tables of the database, or bring them up to date.", async () => {
    return (await import("./database.ts")).migrate;
  }),
  single(
    "migrate-to",
    "<url>",
    "Copy the whole database into another, empty one: to PostgreSQL, or back to SQLite.",
    async () => {
      return (await import("./database.ts")).migrateTo;
    },
  ),
  single("settings", "", "List every setting with its default and meaning.", async () => {
    return (await import("./settings.ts")).settings;
  }),
];

function group(
  name: string,
  description: string,
  verbs: () => Promise<readonly Verb[]>,
  own?: () => Promise<Verb>,
): Noun {
  const load = async (terminal: Terminal) => {
    const parent = new Command(name).description(description).usage("<command> [options]");
    for (const verb of await verbs()) parent.addCommand(verb(terminal));
    if (own !== undefined) parent.addCommand((await own())(terminal), { isDefault: true });
    return parent;
  };
  return { name, description, parameters: null, load };
}

/** @param parameters and description: as the command's own file says. */
function single(name: string, parameters: string, description: string, verb: () => Promise<Verb>): Noun {
  return { name, description, parameters, load: async (terminal) => (await verb())(terminal) };
}
