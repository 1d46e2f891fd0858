//! The cases on drivers that keep the contract, and on drivers that break it in one place.

#[cfg(test)]
mod broken;
#[cfg(test)]
mod running;
#[cfg(test)]
mod wrong;
