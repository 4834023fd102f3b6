/** One adjustable bound: the variable that sets it, its default, and words for the README. */
interface LimitSetting {
  variable: string;
  default: number;
  description: string;
}

/** What the service accepts at most. The only place that holds these figures. */
export const LIMIT_SETTINGS = {
  bodyBytes: { variable: "MAX_BODY_BYTES", default: 1_048_576, description: "Largest request body, in bytes." },
  name: { variable: "MAX_NAME_LENGTH", default: 256, description: "Longest `name`, in characters." },
  symbol: { variable: "MAX_SYMBOL_LENGTH", default: 32, description: "Longest `symbol`, in characters." },
  description: {
    variable: "MAX_DESCRIPTION_LENGTH",
    default: 10_000,
    description: "Longest `description`, in characters.",
  },
  uri: { variable: "MAX_URI_LENGTH", default: 2_048, description: "Longest URI, in characters." },
  attributes: { variable: "MAX_ATTRIBUTES", default: 200, description: "Most entries of `attributes`." },
  unlockableBytes: {
    variable: "MAX_UNLOCKABLE_BYTES",
    default: 65_536,
    description: "Largest `unlockable_content`, in bytes of UTF-8.",
  },
  userIdentifier: {
    variable: "MAX_USER_IDENTIFIER_LENGTH",
    default: 256,
    description: "Longest `user_identifier`, in characters.",
  },
  mediaBytes: {
    variable: "MAX_MEDIA_BYTES",
    default: 104_857_600,
    description: "Largest file that `copy_media` takes, in bytes.",
  },
  mediaSeconds: {
    variable: "MEDIA_SECONDS",
    default: 60,
    description: "Seconds in which such a file must have arrived.",
  },
  itemGas: {
    variable: "MAX_ITEM_GAS",
    default: 1_000_000,
    description: "Most gas that one request may use on chain.",
  },
  backlog: {
    variable: "MAX_BACKLOG",
    default: 100_000,
    description: "Most accepted requests that are not final; above, calls that write get 503 `unavailable`.",
  },
  ratePerMinute: {
    variable: "RATE_LIMIT_PER_MINUTE",
    default: 600,
    description:
      "Most calls in a minute with one token, and most refused ones from one address; each API process counts its own.",
  },
} as const satisfies Record<string, LimitSetting>;

export type Limits = Record<keyof typeof LIMIT_SETTINGS, number>;

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: LIMIT_SETTINGS.bodyBytes.default,
  name: LIMIT_SETTINGS.name.default,
  symbol: LIMIT_SETTINGS.symbol.default,
  description: LIMIT_SETTINGS.description.default,
  uri: LIMIT_SETTINGS.uri.default,
  attributes: LIMIT_SETTINGS.attributes.default,
  unlockableBytes: LIMIT_SETTINGS.unlockableBytes.default,
  userIdentifier: LIMIT_SETTINGS.userIdentifier.default,
  mediaBytes: LIMIT_SETTINGS.mediaBytes.default,
  mediaSeconds: LIMIT_SETTINGS.mediaSeconds.default,
  itemGas: LIMIT_SETTINGS.itemGas.default,
  backlog: LIMIT_SETTINGS.backlog.default,
  ratePerMinute: LIMIT_SETTINGS.ratePerMinute.default,
};

/** Items on a page at most, and when the caller names no number (interface, part 8). */
export const MAX_PAGE = 30;
/** Royalties are in 1/10,000 of the price. */
export const MAX_BASIS_POINTS = 10_000;
/** Nested arrays and objects inside one entry of `attributes`: bounds the recursion of whoever reads them. */
export const MAX_ATTRIBUTE_DEPTH = 16;
