/** How a chain charges for the data that it stores on another chain: as a fee beside the gas, or as more gas. */
export type L1DataRules = "none" | "op" | "scroll" | "arbitrum";

/** A chain that commands know by name. Each fact is a hint for people: gas, forks and fees are measured on the chain. */
export interface KnownNetwork {
  /** For `--network` and `--chain`. */
  name: string;
  chainId: number;
  /** How people call it. */
  title: string;
  /** Whether its coins cost nothing. */
  test: boolean;
  explorerUrl: string;
  /** The coin that pays for transactions, as people and faucets call it. */
  coin: string;
  /** A page that gives or lists where to get coins of a test network for nothing; null: none is known. */
  faucetUrl: string | null;
  /** Hardhat's kind of chain. */
  kind: "l1" | "op" | "generic";
  /** Seconds from one block to the next; null: not known. */
  blockSeconds: number | null;
  /** Blocks to wait for: `init` sets CONFIRMATIONS to it. Null: the service's default. */
  confirmations: number | null;
  /** The type of its fees, as far as known. The service needs EIP-1559: `deploy --dry-run` looks at the chain. */
  fees: "EIP-1559" | "legacy" | null;
  l1Data: L1DataRules;
  /** Whether it has delegation (EIP-7702) of the hard fork Prague, as far as known. */
  prague: boolean | null;
  /** Who publishes sources of its contracts. */
  verifiers: readonly ("sourcify" | "etherscan")[];
  /** Whether a batch of 250 requests was settled there with this version. */
  tried: boolean;
}

/** What most chains have in common. */
const USUAL = {
  test: false,
  faucetUrl: null,
  kind: "generic",
  confirmations: null,
  fees: null,
  l1Data: "none",
  prague: null,
  verifiers: ["sourcify", "etherscan"],
  tried: false,
} as const;
const ETHEREUM = { ...USUAL, kind: "l1", blockSeconds: 12, confirmations: 12, fees: "EIP-1559", prague: true } as const;
const OP = { ...USUAL, kind: "op", blockSeconds: 2, fees: "EIP-1559", l1Data: "op", prague: true } as const;
const ARBITRUM = { ...USUAL, blockSeconds: 0.25, fees: "EIP-1559", l1Data: "arbitrum", prague: true } as const;
const SCROLL = { ...USUAL, fees: "EIP-1559", l1Data: "scroll", prague: true } as const;

/** The chains of hardhat.config.ts, `npm run deploy` and `init`. Others are reached by the URL of a node. */
export const NETWORKS = [
  {
    ...ETHEREUM,
    name: "ethereum",
    chainId: 1,
    title: "Ethereum",
    explorerUrl: "https://etherscan.io",
    coin: "ETH",
  },
  {
    ...ETHEREUM,
    name: "sepolia",
    chainId: 11_155_111,
    title: "Sepolia",
    test: true,
    explorerUrl: "https://sepolia.etherscan.io",
    coin: "Sepolia ETH",
    faucetUrl: "https://ethereum.org/developers/docs/networks/#sepolia",
  },
  {
    ...OP,
    name: "base",
    chainId: 8_453,
    title: "Base",
    explorerUrl: "https://basescan.org",
    coin: "ETH on Base",
  },
  {
    ...OP,
    name: "baseSepolia",
    chainId: 84_532,
    title: "Base Sepolia",
    test: true,
    explorerUrl: "https://sepolia.basescan.org",
    coin: "Base Sepolia ETH",
    faucetUrl: "https://docs.base.org/base-chain/tools/network-faucets",
  },
  {
    ...OP,
    name: "optimism",
    chainId: 10,
    title: "OP Mainnet",
    explorerUrl: "https://optimistic.etherscan.io",
    coin: "ETH on OP Mainnet",
  },
  {
    ...OP,
    name: "optimismSepolia",
    chainId: 11_155_420,
    title: "OP Sepolia",
    test: true,
    explorerUrl: "https://sepolia-optimism.etherscan.io",
    coin: "OP Sepolia ETH",
    faucetUrl: "https://console.optimism.io/faucet",
  },
  {
    ...ARBITRUM,
    name: "arbitrum",
    chainId: 42_161,
    title: "Arbitrum One",
    explorerUrl: "https://arbiscan.io",
    coin: "ETH on Arbitrum One",
  },
  {
    ...ARBITRUM,
    name: "arbitrumSepolia",
    chainId: 421_614,
    title: "Arbitrum Sepolia",
    test: true,
    explorerUrl: "https://sepolia.arbiscan.io",
    coin: "Arbitrum Sepolia ETH",
    faucetUrl: "https://faucet.quicknode.com/arbitrum/sepolia",
  },
  {
    ...USUAL,
    name: "polygon",
    chainId: 137,
    title: "Polygon",
    explorerUrl: "https://polygonscan.com",
    coin: "POL",
    blockSeconds: 2,
    confirmations: 180,
    fees: "EIP-1559",
  },
  {
    ...USUAL,
    name: "polygonAmoy",
    chainId: 80_002,
    title: "Polygon Amoy",
    test: true,
    explorerUrl: "https://amoy.polygonscan.com",
    coin: "Amoy POL",
    faucetUrl: "https://faucet.polygon.technology/",
    blockSeconds: null,
    confirmations: 180,
    fees: "EIP-1559",
  },
  {
    ...USUAL,
    name: "bnb",
    chainId: 56,
    title: "BNB Smart Chain",
    explorerUrl: "https://bscscan.com",
    coin: "BNB",
    blockSeconds: 0.45,
    confirmations: 80,
    fees: "EIP-1559",
    prague: true,
  },
  {
    ...USUAL,
    name: "bnbTestnet",
    chainId: 97,
    title: "BNB Smart Chain Testnet",
    test: true,
    explorerUrl: "https://testnet.bscscan.com",
    coin: "tBNB",
    blockSeconds: 0.45,
    confirmations: 80,
    fees: "EIP-1559",
    prague: true,
  },
  {
    ...USUAL,
    name: "linea",
    chainId: 59_144,
    title: "Linea",
    explorerUrl: "https://lineascan.build",
    coin: "ETH on Linea",
    blockSeconds: 2,
    fees: "EIP-1559",
    prague: true,
  },
  {
    ...USUAL,
    name: "lineaSepolia",
    chainId: 59_141,
    title: "Linea Sepolia",
    test: true,
    explorerUrl: "https://sepolia.lineascan.build",
    coin: "Linea Sepolia ETH",
    blockSeconds: null,
  },
  {
    ...SCROLL,
    name: "scroll",
    chainId: 534_352,
    title: "Scroll",
    explorerUrl: "https://scrollscan.com",
    coin: "ETH on Scroll",
    blockSeconds: 3,
  },
  {
    ...SCROLL,
    name: "scrollSepolia",
    chainId: 534_351,
    title: "Scroll Sepolia",
    test: true,
    explorerUrl: "https://sepolia.scrollscan.com",
    coin: "Scroll Sepolia ETH",
    faucetUrl: "https://docs.scroll.io/en/user-guide/faucet",
    blockSeconds: null,
  },
  {
    ...USUAL,
    name: "gnosis",
    chainId: 100,
    title: "Gnosis",
    explorerUrl: "https://gnosisscan.io",
    coin: "xDAI",
    blockSeconds: 5,
    fees: "EIP-1559",
    prague: true,
  },
  {
    ...USUAL,
    name: "gnosisChiado",
    chainId: 10_200,
    title: "Gnosis Chiado",
    test: true,
    explorerUrl: "https://gnosis-chiado.blockscout.com",
    coin: "Chiado xDAI",
    faucetUrl: "https://faucet.chiadochain.net/",
    blockSeconds: 5,
    fees: "EIP-1559",
    prague: true,
    verifiers: ["sourcify"],
  },
  {
    ...USUAL,
    name: "avalanche",
    chainId: 43_114,
    title: "Avalanche C-Chain",
    explorerUrl: "https://snowtrace.io",
    coin: "AVAX",
    blockSeconds: null,
  },
  {
    ...USUAL,
    name: "avalancheFuji",
    chainId: 43_113,
    title: "Avalanche Fuji",
    test: true,
    explorerUrl: "https://testnet.snowtrace.io",
    coin: "Fuji AVAX",
    faucetUrl: "https://faucet.avax-test.network/",
    blockSeconds: null,
  },
] as const satisfies KnownNetwork[];

/** The name of the network that `npm run deploy` reaches by RPC_URL alone: any chain. */
export const CUSTOM_NETWORK = "custom";

/** The variable with the URL of a node of a network. */
export function rpcVariable(name: string): string {
  if (name === CUSTOM_NETWORK) return "RPC_URL";
  return `${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_RPC_URL`;
}

/** What is known of a chain; undefined: it has no name here. */
export function networkOf(chainId: bigint): KnownNetwork | undefined {
  return NETWORKS.find((network) => BigInt(network.chainId) === chainId);
}
