/** Plots, loaded by the first view that has one. */
import uPlot from 'uplot'

export interface PlotOptions {
  readonly kind: 'bars' | 'points' | 'line'
  readonly value: (value: number) => string
  readonly log?: boolean
  readonly height?: number
  /** A line without axes; its figures stand beside it. */
  readonly bare?: boolean
  /** Colours by the name of a variable of the style sheet, one per series. */
  readonly colors?: readonly string[]
}

/** Room beside the first and the last, so that both are drawn whole. */
function spaced(_plot: unknown, low: number, high: number): [number, number] {
  const room = Math.max(2, (high - low) * 0.03)
  return [low - room, high + room]
}

export function plot(
  place: HTMLElement,
  xs: readonly number[],
  series: readonly (readonly (number | null)[])[],
  options: PlotOptions,
): uPlot {
  const style = getComputedStyle(document.documentElement)
  const color = (name: string): string => style.getPropertyValue(name).trim()
  const axis = {
    stroke: color('--dim'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  }
  const values = (_: unknown, all: readonly (number | null)[]): string[] =>
    all.map((each) => (each === null ? '' : options.value(each)))
  const isPower = (value: number | null): boolean =>
    value !== null && Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6)
  return new uPlot(
    {
      width: place.clientWidth,
      height: options.height ?? 140,
      legend: { show: false },
      cursor: options.bare ? { show: false } : { y: false },
      ...(options.bare ? { padding: [2, 0, 2, 0] as [number, number, number, number] } : {}),
      scales: {
        x: { time: true, ...(options.bare ? {} : { range: spaced }) },
        y: options.log
          ? { distr: 3 }
          : { range: (_u: unknown, _low: number, high: number) => [0, Math.max(1, high * 1.1)] as [number, number] },
      },
      axes: [
        {
          ...axis,
          show: !options.bare,
          size: 30,
          values: [
            [60, '{HH}:{mm}', null, null, null, null, null, null, 1],
            [1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1],
          ] as uPlot.Axis.Values,
        },
        {
          ...axis,
          show: !options.bare,
          size: 58,
          values: values as uPlot.Axis.Values,
          ...(options.log
            ? {
                filter: (_u: unknown, all: readonly number[]) => all.map((each) => (isPower(each) ? each : null)),
                grid: { show: false },
              }
            : {}),
        },
      ],
      series: [
        {},
        ...series.map((_, at) => {
          const stroke = color(options.colors?.[at] ?? '--accent')
          if (options.kind === 'bars')
            return {
              stroke,
              fill: stroke,
              width: 0,
              paths: uPlot.paths.bars!({ size: [0.8, 24] }),
              points: { show: false },
            }
          if (options.kind === 'line') return { stroke, fill: `${stroke}22`, width: 1.5, points: { show: false } }
          return { stroke, paths: () => null, points: { show: true, size: 6, fill: stroke, width: 0 } }
        }),
      ],
    } as uPlot.Options,
    [xs, ...series] as unknown as uPlot.AlignedData,
    place,
  )
}
