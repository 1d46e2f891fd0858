//! Layout of a small graph in layers, left to right, as Sugiyama's method does: layers by longest
//! path, orders by barycentres, places by what a box is connected to.
//!
//! What it is not: no optimal layout. It is for tens of boxes.
//!
//! Invariant: boxes do not overlap; an edge runs between boxes, never through one.

use std::collections::BTreeSet;

/// Pixels between columns and between boxes of a column.
const GAP_X: f64 = 74.0;
const GAP_Y: f64 = 22.0;

/// Sweeps over all layers; ours: orders of graphs this small settle in fewer.
const SWEEPS: usize = 12;

/// A box or a bend of a long edge.
#[derive(Debug, Clone)]
struct Node {
    layer: usize,
    width: f64,
    height: f64,
    left: Vec<usize>,
    right: Vec<usize>,
    y: f64,
}

/// The positions of boxes and edges.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// The upper left corner of each box.
    pub(super) places: Vec<(f64, f64)>,
    /// For each edge the bends between its ends: left and right side of the columns it crosses,
    /// and the height there.
    pub(super) bends: Vec<Vec<(f64, f64, f64)>>,
}

/// Lays out boxes of the given sizes; edges go from left to right where no cycle hinders.
pub(super) fn layout(sizes: &[(f64, f64)], edges: &[(usize, usize)]) -> Layout {
    let layers = layers(sizes.len(), edges);
    let mut nodes: Vec<Node> = sizes
        .iter()
        .zip(&layers)
        .map(|((width, height), layer)| Node {
            layer: *layer,
            width: *width,
            height: *height,
            left: Vec::new(),
            right: Vec::new(),
            y: 0.0,
        })
        .collect();
    let chains: Vec<Vec<usize>> =
        edges.iter().map(|(from, to)| chain(&mut nodes, *from, *to)).collect();
    let depth = nodes.iter().map(|node| node.layer + 1).max().unwrap_or(0);
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); depth];
    for (at, node) in nodes.iter().enumerate() {
        if let Some(column) = columns.get_mut(node.layer) {
            column.push(at);
        }
    }
    order(&nodes, &mut columns);
    place(&mut nodes, &columns);
    let widths: Vec<f64> = columns
        .iter()
        .map(|column| {
            column.iter().filter_map(|at| nodes.get(*at)).map(|n| n.width).fold(0.0, f64::max)
        })
        .collect();
    let x_of = |layer: usize| widths.iter().take(layer).map(|width| width + GAP_X).sum::<f64>();
    let places = nodes.iter().take(sizes.len()).map(|node| (x_of(node.layer), node.y)).collect();
    let bends = chains
        .iter()
        .map(|chain| {
            chain
                .iter()
                .filter_map(|at| nodes.get(*at))
                .map(|node| {
                    let x = x_of(node.layer);
                    (x, x + widths.get(node.layer).copied().unwrap_or(0.0), node.y)
                })
                .collect()
        })
        .collect();
    Layout { places, bends }
}

/// Returns the layer of each box: one more than the farthest box that points to it.
fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layer = vec![0_usize; count];
    let forward = acyclic(count, edges);
    // At most as many rounds as there are boxes, because no cycle is left.
    for _ in 0..count {
        let mut moved = false;
        for (from, to) in &forward {
            let wanted = layer.get(*from).map_or(0, |found| found + 1);
            if let Some(found) = layer.get_mut(*to).filter(|found| **found < wanted) {
                *found = wanted;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    // A box that nothing points to goes close to what it points to.
    for at in 0..count {
        let is_start = !forward.iter().any(|(_, to)| *to == at);
        let nearest = forward
            .iter()
            .filter(|(from, _)| *from == at)
            .filter_map(|(_, to)| layer.get(*to).copied())
            .min();
        if let (true, Some(nearest), Some(found)) = (is_start, nearest, layer.get_mut(at)) {
            *found = nearest.saturating_sub(1);
        }
    }
    layer
}

/// Returns the edges without those that would close a cycle.
fn acyclic(count: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (from, to) in edges {
        if from == to || *from >= count || *to >= count || reaches(&kept, *to, *from) {
            continue;
        }
        kept.push((*from, *to));
    }
    kept
}

fn reaches(edges: &[(usize, usize)], from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        for (_, next) in edges.iter().filter(|(start, _)| *start == at) {
            if seen.insert(*next) {
                open.push(*next);
            }
        }
    }
    false
}

/// Connects two boxes, with a bend in each layer between them; returns the bends.
fn chain(nodes: &mut Vec<Node>, from: usize, to: usize) -> Vec<usize> {
    let layer = |nodes: &Vec<Node>, at: usize| nodes.get(at).map_or(0, |node| node.layer);
    let (low, high) = (layer(nodes, from), layer(nodes, to));
    let mut bends = Vec::new();
    if low >= high {
        return bends;
    }
    let mut before = from;
    for between in low + 1..high {
        nodes.push(Node {
            layer: between,
            width: 0.0,
            height: 10.0,
            left: vec![before],
            right: Vec::new(),
            y: 0.0,
        });
        let at = nodes.len() - 1;
        if let Some(node) = nodes.get_mut(before) {
            node.right.push(at);
        }
        bends.push(at);
        before = at;
    }
    if let Some(node) = nodes.get_mut(before) {
        node.right.push(to);
    }
    if let Some(node) = nodes.get_mut(to) {
        node.left.push(before);
    }
    bends
}

/// Orders each column by the mean place of its neighbours, back and forth; keeps the best.
fn order(nodes: &[Node], columns: &mut Vec<Vec<usize>>) {
    let mut best = (crossings(nodes, columns), columns.clone());
    for sweep in 0..SWEEPS {
        let forwards = sweep % 2 == 0;
        let count = columns.len();
        for step in 0..count {
            let at = if forwards { step } else { count - 1 - step };
            let ranks: Vec<usize> = ranks(nodes.len(), columns);
            let Some(column) = columns.get_mut(at) else { continue };
            let weight = |node: &usize| {
                let near =
                    nodes.get(*node).map(|node| if forwards { &node.left } else { &node.right });
                let places: Vec<f64> = near
                    .into_iter()
                    .flatten()
                    .filter_map(|other| ranks.get(*other))
                    .map(|rank| *rank as f64)
                    .collect();
                if places.is_empty() {
                    ranks.get(*node).copied().unwrap_or(0) as f64
                } else {
                    places.iter().sum::<f64>() / places.len() as f64
                }
            };
            let mut weighted: Vec<(f64, usize)> =
                column.iter().map(|node| (weight(node), *node)).collect();
            weighted.sort_by(|a, b| a.0.total_cmp(&b.0));
            *column = weighted.into_iter().map(|(_, node)| node).collect();
        }
        let found = crossings(nodes, columns);
        if found < best.0 {
            best = (found, columns.clone());
        }
    }
    *columns = best.1;
}

fn ranks(count: usize, columns: &[Vec<usize>]) -> Vec<usize> {
    let mut ranks = vec![0; count];
    for column in columns {
        for (rank, node) in column.iter().enumerate() {
            if let Some(place) = ranks.get_mut(*node) {
                *place = rank;
            }
        }
    }
    ranks
}

fn crossings(nodes: &[Node], columns: &[Vec<usize>]) -> usize {
    let ranks = ranks(nodes.len(), columns);
    let rank = |at: usize| ranks.get(at).copied().unwrap_or(0);
    let mut total = 0;
    for column in columns {
        let edges: Vec<(usize, usize)> = column
            .iter()
            .flat_map(|at| {
                let right = nodes.get(*at).map(|node| node.right.as_slice()).unwrap_or(&[]);
                right.iter().map(|to| (rank(*at), rank(*to)))
            })
            .collect();
        for (index, a) in edges.iter().enumerate() {
            total += edges
                .iter()
                .skip(index + 1)
                .filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1))
                .count();
        }
    }
    total
}

/// Computes heights: each box as near to the middle of its neighbours as its column allows.
fn place(nodes: &mut [Node], columns: &[Vec<usize>]) {
    for column in columns {
        let mut y = 0.0;
        for at in column {
            if let Some(node) = nodes.get_mut(*at) {
                node.y = y;
                y += node.height + GAP_Y;
            }
        }
    }
    for sweep in 0..SWEEPS {
        let forwards = sweep % 2 == 0;
        for step in 0..columns.len() {
            let at = if forwards { step } else { columns.len() - 1 - step };
            if let Some(column) = columns.get(at) {
                settle(nodes, column);
            }
        }
    }
    let top = nodes.iter().map(|node| node.y).fold(f64::INFINITY, f64::min);
    for node in nodes.iter_mut() {
        node.y -= if top.is_finite() { top } else { 0.0 };
    }
}

/// Moves the boxes of one column towards their neighbours, keeping order and distance.
fn settle(nodes: &mut [Node], column: &[usize]) {
    let middle =
        |nodes: &[Node], at: usize| nodes.get(at).map_or(0.0, |node| node.y + node.height / 2.0);
    let wanted: Vec<f64> = column
        .iter()
        .map(|at| {
            let Some(node) = nodes.get(*at) else { return 0.0 };
            let near: Vec<f64> =
                node.left.iter().chain(&node.right).map(|other| middle(nodes, *other)).collect();
            if near.is_empty() {
                return node.y;
            }
            near.iter().sum::<f64>() / near.len() as f64 - node.height / 2.0
        })
        .collect();
    // Down, then up from what is wanted of the last; the mean of both keeps groups centred.
    let height = |nodes: &[Node], at: usize| nodes.get(at).map_or(0.0, |node| node.height);
    let mut down = wanted.clone();
    let mut free = f64::NEG_INFINITY;
    for (y, at) in down.iter_mut().zip(column) {
        *y = y.max(free);
        free = *y + height(nodes, *at) + GAP_Y;
    }
    let mut up = wanted;
    let mut free = f64::INFINITY;
    for (y, at) in up.iter_mut().zip(column).rev() {
        *y = y.min(free - height(nodes, *at));
        free = *y - GAP_Y;
    }
    for ((at, a), b) in column.iter().zip(down).zip(up) {
        if let Some(node) = nodes.get_mut(*at) {
            node.y = f64::midpoint(a, b);
        }
    }
}
