import { DEFAULT_QUOTAS } from "../domain/quota.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that an earlier version had. */
export interface RemovedSetting {
  variable: string;
  /** What holds now: a sentence. */
  now: string;
  /** The values that kept rows longer, or limited more, than what holds now: the start is refused. Others get a warning. */
  refused?: {
    /** For the documentation, such as "below 256". */
    values: string;
    is: (value: string, env: Environment) => boolean;
    /** Default: the value was stricter. */
    because?: string;
    /** What to do in place of the setting: a sentence. */
    instead: string;
  };
}

const CALL_BYTES = "MAX_CALL_BYTES limits the JSON bodies of the calls in flight, and as many bytes of unread answers.";
/** For limits that protect the process: nothing replaces them. */
const MORE = "No other setting limits it: plan for this much load.";
const PROXY = "Set a lower limit in a reverse proxy.";

/** `APP_QUOTAS` has all of them. Each that is above its default, or has none, was more strict when a number was set. */
const QUOTAS = Object.entries(DEFAULT_QUOTAS).map(([name, most]) => {
  const instead = `Set \`APP_QUOTAS=${name}=<its value>\`.`;
  return limit(
    `APP_QUOTA_${name.toUpperCase()}`,
    most ?? Infinity,
    "`APP_QUOTAS` has the quotas of new apps.",
    instead,
  );
});

/** The settings that version 0.4.0 has removed. No value of them is ever part of a message: some are secret. */
export const REMOVED_SETTINGS: readonly RemovedSetting[] = [
  limit("MAX_BODY_BYTES", 1_048_576, "A request body has at most 1,048,576 bytes.", "Limit it in a reverse proxy."),
  limit(
    "MAX_BATCH_BYTES",
    8_388_608,
    "The body of a batch has at most 8,388,608 bytes.",
    "Limit it in a reverse proxy.",
  ),
  limit("MAX_NAME_LENGTH", 256, "A `name` has at most 256 characters.", ofApps("names")),
  limit("MAX_SYMBOL_LENGTH", 32, "A `symbol` has at most 32 characters.", ofApps("symbols")),
  limit("MAX_DESCRIPTION_LENGTH", 10_000, "A `description` has at most 10,000 characters.", ofApps("descriptions")),
  limit("MAX_URI_LENGTH", 2_048, "A URI has at most 2,048 characters.", ofApps("URIs")),
  limit("MAX_ATTRIBUTES", 200, "A token has at most 200 `attributes`.", ofApps("numbers of attributes")),
  limit(
    "MAX_UNLOCKABLE_BYTES",
    65_536,
    "`unlockable_content` has at most 65,536 bytes.",
    "Set the quota `stored_bytes` of the app (`npm run cli -- app quota`).",
  ),
  limit(
    "MAX_USER_IDENTIFIER_LENGTH",
    256,
    "A `user_identifier` has at most 256 characters.",
    ofApps("user identifiers"),
  ),
  {
    variable: "VERIFY_COLLECTIONS",
    now: "The command `contract verify` asks Sourcify, and Etherscan with ETHERSCAN_API_KEY, about the collections.",
  },
  limit("MAX_UNREAD_BYTES", 134_217_728, CALL_BYTES, "Set MAX_CALL_BYTES."),
  limit("MAX_OPEN_BODY_BYTES", 134_217_728, CALL_BYTES, "Set MAX_CALL_BYTES."),
  limit(
    "MAX_CALLER_UNREAD_BYTES",
    33_554_432,
    "A caller gets no further answer while a quarter of MAX_CALL_BYTES is not read: 33,554,432 bytes by default.",
    "Set MAX_CALL_BYTES to four times the value.",
  ),
  retention("RETAIN_DELIVERIES_DAYS", "Accepted webhook deliveries", "RETAIN_DAYS", 30),
  retention("RETAIN_TEST_EVENTS_DAYS", "Test events", "RETAIN_DAYS", 30),
  retention("RETAIN_RAW_TRANSACTIONS_DAYS", "The bytes of transactions", "RETAIN_DAYS", 30),
  retention("RETAIN_BATCH_ITEMS_DAYS", "The lists of the requests of transactions", "RETAIN_DAYS", 30),
  retention("RETAIN_CONSOLE_SESSIONS_DAYS", "Ended sessions of the console", "RETAIN_DAYS", 30),
  retention("RETAIN_FAILED_DELIVERIES_DAYS", "Failed webhook deliveries", "RETAIN_FAILED_DAYS", 365),
  retention("RETAIN_BATCH_ANSWERS_DAYS", "Long answers to batches", "RETAIN_FAILED_DAYS", 365),
  retention("RETAIN_API_TOKENS_DAYS", "Ended API tokens", "RETAIN_FAILED_DAYS", 365),
  { variable: "RETAIN_IDEMPOTENCY_KEYS_DAYS", now: "Idempotency keys are kept forever." },
  limit("MAX_METADATA_BYTES", 65_536, "Metadata have at most 65,536 bytes as JSON.", ofApps("metadata")),
  limit("MEDIA_SECONDS", 60, "The download of a file that `copy_media` copies may take 60 seconds.", MORE),
  limit("CONTRACT_READS_PER_MINUTE", 60, "Each app has 60 background reads of contracts of others per minute.", MORE),
  limit("FOREIGN_CALL_GAS", 100_000, "A call that reads a contract of others gets 100,000 gas.", MORE),
  limit("MAX_MEDIA_BACKLOG", 10_000, "10,000 requests of an app may wait for their media.", quota("media_requests")),
  limit("MAX_WAITING_CALLS", 10_000, "10,000 calls may wait for their transaction in a process.", MORE),
  limit("MAX_WAIT_SECONDS", 30, "A call waits at most 30 seconds for its transaction.", MORE),
  limit("MAX_ADDRESS_CONNECTIONS", 1_000, "One address may have 1,000 connections.", PROXY),
  limit("MAX_EVENT_STREAMS", 1_000, "A process keeps 1,000 event streams open.", "Lower `MAX_CONNECTIONS`."),
  limit("MAX_APP_EVENT_STREAMS", 50, "A process keeps 50 event streams of an app open.", MORE),
  plain("LOG_QUERY_BLOCKS", "Log queries begin with 500 blocks, and adapt to the provider."),
  plain("LOG_QUERY_ADDRESSES", "Log queries begin with 500 addresses, and adapt to the provider."),
  plain("LOG_TOPICS_ABOVE", "Log queries for more than 2,000 contracts name no addresses."),
  plain("REBROADCAST_SECONDS", "An unmined transaction is sent to the node again after 5 seconds."),
  ...QUOTAS,
];

/** Days for which one kind of rows was kept. A longer time must be set again, so that no upgrade deletes rows. */
function retention(
  variable: string,
  rows: string,
  setting: "RETAIN_DAYS" | "RETAIN_FAILED_DAYS",
  fallback: number,
): RemovedSetting {
  const days = (text: string) => (text === "forever" ? Infinity : Number(text));
  return {
    variable,
    now: `${rows} are kept for ${setting} (${fallback.toString()} days by default).`,
    refused: {
      values: `above ${setting}`,
      is: (value, env) => !(days(value) <= days((env[setting] ?? "").trim() || fallback.toString())),
      because: "The value of this setting kept rows longer.",
      instead: `Set ${setting} to at least as many days.`,
    },
  };
}

function quota(name: string): string {
  return `Set the quota \`${name}\` of the apps (\`npm run cli -- app quota\`) and of new ones (\`APP_QUOTAS\`).`;
}

function ofApps(what: string): string {
  return `Let your apps refuse longer ${what}.`;
}

/** A setting that is missed by nobody. */
function plain(variable: string, now: string): RemovedSetting {
  return { variable, now };
}

/** A limit that is a constant now. A lower one was stricter. */
function limit(variable: string, constant: number, now: string, instead: string): RemovedSetting {
  const refused = {
    values: constant === Infinity ? "a number" : `below ${constant.toString()}`,
    is: (value: string) => Number(value) < constant,
    instead,
  };
  return { variable, now, refused };
}

/** What the environment says about removed settings. A blank variable counts as unset. */
export function removedSettings(env: Environment): {
  warnings: string[];
  errors: string[];
} {
  const set = REMOVED_SETTINGS.filter(({ variable }) => (env[variable] ?? "").trim() !== "");
  const isRefused = ({ variable, refused }: RemovedSetting) => refused?.is((env[variable] ?? "").trim(), env) === true;
  return {
    warnings: set
      .filter((setting) => !isRefused(setting))
      .map(({ variable, now }) => `${variable}: removed in 0.4.0, and has no effect. ${now} Remove this setting.`),
    errors: set
      .filter(isRefused)
      .map(
        ({ variable, now, refused }) =>
          `${variable}: removed in 0.4.0. ${now} ${refused?.because ?? "The value of this setting was stricter."} ${refused?.instead ?? ""} Then remove this setting.`,
      ),
  };
}
