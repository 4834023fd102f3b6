/** The rules of a Hardhat node. hardhat.config.ts reads them from the environment. */
export interface NodeRules {
  /** Name of the hard fork whose rules apply. Default: the newest stable one. */
  hardfork?: string;
  /** URL of a node whose chain this node continues. */
  forkUrl?: string;
}

export function rulesEnvironment({ hardfork, forkUrl }: NodeRules): Record<string, string> {
  return {
    ...(hardfork === undefined ? {} : { HARDFORK: hardfork }),
    ...(forkUrl === undefined ? {} : { FORK_URL: forkUrl }),
  };
}
