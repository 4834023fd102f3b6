/** What `ProgrammableReceiver` can do when a token arrives. */
export const Mode = {
  accept: 0,
  lie: 1,
  reason: 2,
  empty: 3,
  revertMegabyte: 4,
  returnMegabyte: 5,
  burn: 6,
  call: 7,
  /** Accepts the token in a simulation and rejects it on chain. */
  acceptSimulated: 8,
  useTwoMillionGas: 9,
  nothing: 10,
  /** Accepts the token in a simulation and answers nothing on chain. */
  nothingOnChain: 11,
} as const;
