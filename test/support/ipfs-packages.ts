/** Whether the optional packages of the IPFS node are here; tests that need them are skipped otherwise. */
export function ipfsPackagesAreInstalled(): boolean {
  try {
    import.meta.resolve("libp2p");
    return true;
  } catch {
    return false;
  }
}
