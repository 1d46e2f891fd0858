import type { TestProject } from 'vitest/node';

export declare function setup(project: TestProject): Promise<() => Promise<void>>;
