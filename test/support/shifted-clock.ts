/** Sets this process's clock to a time, from which it goes on. @returns a function that sets it right again. */
export function shiftClock(to: number): () => void {
  const RealDate = Date;
  const offset = to - RealDate.now();
  const now = () => RealDate.now() + offset;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: unknown[], self) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, self) as Date,
    get: (target, key, self) => (key === "now" ? now : (Reflect.get(target, key, self) as unknown)),
  });
  return () => {
    globalThis.Date = RealDate;
  };
}
