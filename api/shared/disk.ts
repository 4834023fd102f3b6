import { statfs } from "node:fs/promises";

/** Bytes of the disk that has a folder. */
export interface DiskSpace {
  used: number;
  /** What this user can still write. */
  free: number;
}

export async function readDisk(folder: string): Promise<DiskSpace> {
  const { bsize, blocks, bfree, bavail } = await statfs(folder);
  return { used: (blocks - bfree) * bsize, free: bavail * bsize };
}
