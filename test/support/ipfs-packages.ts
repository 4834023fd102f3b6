/** Whether the optional packages of the IPFS node are installed. Otherwise tests that need them are skipped. */
export function ipfsPackagesAreInstalled(): boolean {
  try {
    import.meta.resolve("libp2p");
    return true;
  } catch {
    return false;
  }
}
