/** What `ProgrammableReceiver` can be told to do when a token arrives. */
export const Mode = {
  accept: 0,
  lie: 1,
  reason: 2,
  empty: 3,
  revertMegabyte: 4,
  returnMegabyte: 5,
  burn: 6,
  call: 7,
  /** Takes what is only simulated, and refuses the same on the chain. */
  acceptSimulated: 8,
  useTwoMillionGas: 9,
} as const;
