//! Lists, sets, maps, and what makes them.
//!
//! What it is not: the hash tables of Java; sets and maps come in the order in which they were filled.
//!
//! Invariant: a step is taken for each element that is looked at.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::entries::Entries;
use super::super::{Machine, Run, SLOT_BYTES, show, size_bytes};
use super::{int, place, size};
use crate::value::{List, Object, Thrown, Value};

/// The memory that an entry of a set or map takes beside its key.
const ENTRY_BYTES: usize = 160;

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

impl Machine<'_> {
    /// Returns the elements of what can be walked over.
    pub(in crate::run) fn items_of(&mut self, own: &Value) -> Run<Vec<Value>> {
        let items = match own {
            Value::Null => return Err(Thrown::null("")),
            Value::List(list) => {
                self.check_room(list.borrow().items.len() * SLOT_BYTES)?;
                list.borrow().items.clone()
            }
            Value::Set(all) => self.pairs(all)?.into_iter().map(|(own, _)| own).collect(),
            other => match show::array(other) {
                Some(items) => {
                    self.check_room(items.borrow().len() * SLOT_BYTES)?;
                    items.borrow().clone()
                }
                None => {
                    return Err(Thrown::class_cast(&show::class_of(own), "java.util.Collection"));
                }
            },
        };
        self.take(items.len() * SLOT_BYTES)?;
        Ok(items)
    }

    /// Returns the place of a value in a list.
    fn place_of(&mut self, items: &[Value], wanted: &Value, from_end: bool) -> Run<Option<usize>> {
        let key = self.key(wanted)?;
        let places: Vec<usize> = match from_end {
            true => (0..items.len()).rev().collect(),
            false => (0..items.len()).collect(),
        };
        for at in places {
            self.spend(1)?;
            if let Some(own) = items.get(at)
                && self.key(own)? == key
            {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Calls a method of a list.
    pub(super) fn list_method(
        &mut self,
        list: &Rc<RefCell<List>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let length = list.borrow().items.len();
        let is_fixed = list.borrow().is_fixed;
        let grows = matches!(
            name,
            "add"
                | "addAll"
                | "addFirst"
                | "addLast"
                | "remove"
                | "removeFirst"
                | "removeLast"
                | "removeAll"
                | "retainAll"
                | "clear"
        );
        if is_fixed && grows {
            return Err(Thrown::unsupported());
        }
        Ok(Some(match (name, arguments) {
            ("size", []) => size(length),
            ("isEmpty", []) => Value::Boolean(length == 0),
            ("get", [_]) => {
                let at = int(arguments, 0)?;
                let list = list.borrow();
                let found = place(at, length).and_then(|at| list.items.get(at).cloned());
                found.ok_or_else(|| Thrown::index(i64::from(at), length))?
            }
            ("set", [_, value]) => {
                let at = int(arguments, 0)?;
                let mut list = list.borrow_mut();
                let found = place(at, length).and_then(|at| list.items.get_mut(at));
                let found = found.ok_or_else(|| Thrown::index(i64::from(at), length))?;
                std::mem::replace(found, value.clone())
            }
            ("add" | "addLast", [value]) => {
                self.take(SLOT_BYTES)?;
                list.borrow_mut().items.push(value.clone());
                Value::Boolean(true)
            }
            ("add", [_, value]) => self.insert(list, int(arguments, 0)?, value, length)?,
            ("addFirst", [value]) => self.insert(list, 0, value, length)?,
            ("getFirst" | "getLast" | "removeFirst" | "removeLast", []) if length == 0 => {
                return Err(Thrown::no_element(None));
            }
            ("getFirst", []) => list.borrow().items.first().cloned().unwrap_or(Value::Null),
            ("getLast", []) => list.borrow().items.last().cloned().unwrap_or(Value::Null),
            ("removeLast", []) => list.borrow_mut().items.pop().unwrap_or(Value::Null),
            ("removeFirst", []) => self.remove_at(list, 0, length)?,
            ("remove", [Value::Int(at)]) => self.remove_at(list, *at, length)?,
            ("remove", [value]) => {
                self.spend(count(length / 8))?;
                let items = list.borrow().items.clone();
                match self.place_of(&items, value, false)? {
                    Some(at) => {
                        list.borrow_mut().items.remove(at);
                        Value::Boolean(true)
                    }
                    None => Value::Boolean(false),
                }
            }
            ("clear", []) => {
                list.borrow_mut().items.clear();
                Value::Null
            }
            _ => return self.list_question(list, name, arguments),
        }))
    }

    fn insert(
        &mut self,
        list: &Rc<RefCell<List>>,
        at: i32,
        value: &Value,
        length: usize,
    ) -> Run<Value> {
        self.take(SLOT_BYTES)?;
        self.spend(count(length / 8))?;
        let Some(at) = place(at, length + 1) else {
            return Err(Thrown::known(
                "java.lang.IndexOutOfBoundsException",
                Some(format!("Index: {at}, Size: {length}")),
            ));
        };
        list.borrow_mut().items.insert(at, value.clone());
        Ok(Value::Null)
    }

    fn remove_at(&mut self, list: &Rc<RefCell<List>>, at: i32, length: usize) -> Run<Value> {
        self.spend(count(length / 16))?;
        let found = place(at, length).ok_or_else(|| Thrown::index(i64::from(at), length))?;
        Ok(list.borrow_mut().items.remove(found))
    }

    fn list_question(
        &mut self,
        list: &Rc<RefCell<List>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let items = list.borrow().items.clone();
        self.spend(count(items.len() / 8))?;
        Ok(Some(match (name, arguments) {
            ("contains", [value]) => Value::Boolean(self.place_of(&items, value, false)?.is_some()),
            ("indexOf" | "lastIndexOf", [value]) => {
                let found = self.place_of(&items, value, name == "lastIndexOf")?;
                Value::Int(found.and_then(|own| i32::try_from(own).ok()).unwrap_or(-1))
            }
            ("containsAll", [others]) => {
                for own in self.items_of(others)? {
                    if self.place_of(&items, &own, false)?.is_none() {
                        return Ok(Some(Value::Boolean(false)));
                    }
                }
                Value::Boolean(true)
            }
            ("addAll", [others]) => {
                let mut others = self.items_of(others)?;
                let changes = !others.is_empty();
                list.borrow_mut().items.append(&mut others);
                Value::Boolean(changes)
            }
            ("removeAll" | "retainAll", [others]) => {
                let others = self.items_of(others)?;
                let mut kept = Vec::new();
                for own in &items {
                    let is_there = self.place_of(&others, own, false)?.is_some();
                    if is_there == (name == "retainAll") {
                        kept.push(own.clone());
                    }
                }
                let changes = kept.len() != items.len();
                list.borrow_mut().items = kept;
                Value::Boolean(changes)
            }
            ("subList", [_, _]) => {
                let (from, to) = (int(arguments, 0)?, int(arguments, 1)?);
                let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
                let part = range.and_then(|(from, to)| items.get(from..to)).map(<[Value]>::to_vec);
                let part = part.ok_or_else(|| Thrown::index(i64::from(to), items.len()))?;
                self.list(part, false)?
            }
            ("iterator", []) => self.iterator(items)?,
            ("toArray", []) => self.array(items)?,
            _ => return Ok(None),
        }))
    }

    fn iterator(&mut self, mut items: Vec<Value>) -> Run<Value> {
        self.take(items.len() * SLOT_BYTES)?;
        items.reverse();
        self.object(Object::Iterator(RefCell::new(items)))
    }

    /// Returns a set that can be filled.
    fn new_set(&mut self, items: Vec<Value>, is_sorted: bool) -> Run<Value> {
        let mut all = Entries::new(is_sorted);
        for own in items {
            self.put(&mut all, own, Value::Null)?;
        }
        self.keep(Value::Set(Rc::new(RefCell::new(all))))
    }

    fn put(&mut self, all: &mut Entries, key: Value, value: Value) -> Run<Option<Value>> {
        if all.is_fixed {
            return Err(Thrown::unsupported());
        }
        let bytes = self.key(&key)?;
        self.take(ENTRY_BYTES + bytes.len())?;
        Ok(all.put_at(bytes, key, value))
    }

    /// Makes a set or a map.
    pub(super) fn new_entries(&mut self, class: &str, arguments: &[Value]) -> Run<Value> {
        let is_sorted = class.starts_with("Tree");
        let first = arguments.first().filter(|own| !matches!(own, Value::Int(_)));
        if class.ends_with("Set") {
            let items = match first {
                Some(own) => self.items_of(own)?,
                None => Vec::new(),
            };
            return self.new_set(items, is_sorted);
        }
        let mut all = Entries::new(is_sorted);
        match first {
            Some(Value::Map(other)) => {
                for (key, value) in self.pairs(other)? {
                    self.put(&mut all, key, value)?;
                }
            }
            Some(Value::Null) => return Err(Thrown::null("")),
            _ => {}
        }
        self.keep(Value::Map(Rc::new(RefCell::new(all))))
    }

    /// Calls a method of a set.
    pub(super) fn set_method(
        &mut self,
        set: &Rc<RefCell<Entries>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let length = set.borrow().len();
        let is_fixed = set.borrow().is_fixed;
        Ok(Some(match (name, arguments) {
            ("size", []) => size(length),
            ("isEmpty", []) => Value::Boolean(length == 0),
            ("contains", [own]) => {
                let key = self.key(own)?;
                Value::Boolean(set.borrow().get(&key).is_some())
            }
            ("add", [own]) => {
                let had = self.put(&mut set.borrow_mut(), own.clone(), Value::Null)?;
                Value::Boolean(had.is_none())
            }
            ("remove" | "clear", _) if is_fixed => return Err(Thrown::unsupported()),
            ("remove", [own]) => {
                let key = self.key(own)?;
                Value::Boolean(set.borrow_mut().remove(&key).is_some())
            }
            ("clear", []) => {
                set.borrow_mut().clear();
                Value::Null
            }
            ("containsAll" | "addAll" | "removeAll", [others]) => {
                let mut all = true;
                let mut changes = false;
                for own in self.items_of(others)? {
                    let key = self.key(&own)?;
                    let is_there = set.borrow().get(&key).is_some();
                    all &= is_there;
                    if name == "addAll" && !is_there {
                        self.put(&mut set.borrow_mut(), own, Value::Null)?;
                        changes = true;
                    } else if name == "removeAll" && is_there {
                        set.borrow_mut().remove(&key);
                        changes = true;
                    }
                }
                Value::Boolean(if name == "containsAll" { all } else { changes })
            }
            ("retainAll", [others]) => {
                let others = self.items_of(others)?;
                let own = self.items_of(&Value::Set(Rc::clone(set)))?;
                for item in own {
                    if self.place_of(&others, &item, false)?.is_none() {
                        let key = self.key(&item)?;
                        set.borrow_mut().remove(&key);
                    }
                }
                Value::Boolean(set.borrow().len() != length)
            }
            ("iterator" | "toArray" | "first" | "last", []) => {
                let items = self.items_of(&Value::Set(Rc::clone(set)))?;
                match name {
                    "iterator" => self.iterator(items)?,
                    "toArray" => self.array(items)?,
                    _ => {
                        let found = if name == "first" { items.first() } else { items.last() };
                        found.cloned().ok_or_else(|| Thrown::no_element(None))?
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Calls a method of a map.
    pub(super) fn map_method(
        &mut self,
        map: &Rc<RefCell<Entries>>,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        let key = match arguments.first() {
            Some(own) => self.key(own)?,
            None => Vec::new(),
        };
        let found = || map.borrow().get(&key).cloned();
        Ok(Some(match (name, arguments) {
            ("size", []) => size(map.borrow().len()),
            ("isEmpty", []) => Value::Boolean(map.borrow().is_empty()),
            ("get", [_]) => found().unwrap_or(Value::Null),
            ("getOrDefault", [_, other]) => found().unwrap_or_else(|| other.clone()),
            ("containsKey", [_]) => Value::Boolean(found().is_some()),
            ("put", [own, value]) => {
                let had = self.put(&mut map.borrow_mut(), own.clone(), value.clone())?;
                had.unwrap_or(Value::Null)
            }
            ("putIfAbsent", [own, value]) => match found() {
                Some(had) if !matches!(had, Value::Null) => had,
                _ => {
                    self.put(&mut map.borrow_mut(), own.clone(), value.clone())?;
                    Value::Null
                }
            },
            ("remove" | "clear", _) if map.borrow().is_fixed => return Err(Thrown::unsupported()),
            ("remove", [_]) => map.borrow_mut().remove(&key).unwrap_or(Value::Null),
            ("clear", []) => {
                map.borrow_mut().clear();
                Value::Null
            }
            ("putAll", [Value::Map(other)]) => {
                for (key, value) in self.pairs(other)? {
                    self.put(&mut map.borrow_mut(), key, value)?;
                }
                Value::Null
            }
            ("putAll", _) => return Err(Thrown::null("")),
            ("containsValue", [wanted]) => {
                let values = self.pairs(map)?.into_iter().map(|(_, own)| own).collect::<Vec<_>>();
                Value::Boolean(self.place_of(&values, wanted, false)?.is_some())
            }
            ("keySet" | "values" | "entrySet" | "firstKey" | "lastKey", []) => {
                return self.map_view(map, name).map(Some);
            }
            _ => return Ok(None),
        }))
    }

    /// Returns the keys, values or entries of a map as they are now.
    fn map_view(&mut self, map: &Rc<RefCell<Entries>>, name: &str) -> Run<Value> {
        let pairs = self.pairs(map)?;
        match name {
            "keySet" => self.new_set(pairs.into_iter().map(|(own, _)| own).collect(), false),
            "values" => self.list(pairs.into_iter().map(|(_, own)| own).collect(), false),
            "entrySet" => {
                let mut all = Vec::with_capacity(pairs.len());
                for pair in pairs {
                    all.push(self.object(Object::Entry(RefCell::new(pair)))?);
                }
                // Its members are told apart by their keys already.
                self.list(all, false)
            }
            _ => {
                let found = if name == "firstKey" { pairs.first() } else { pairs.last() };
                found.map(|(own, _)| own.clone()).ok_or_else(|| Thrown::no_element(None))
            }
        }
    }

    /// Calls a method of `List`, `Arrays` and `Collections`.
    pub(super) fn collection_static(
        &mut self,
        name: &str,
        arguments: &[Value],
    ) -> Run<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("of" | "asList", [items]) => {
                let items = self.items_of(items)?;
                self.list(items, true)?
            }
            ("emptyList", []) => self.list(Vec::new(), true)?,
            ("singletonList", [own]) => self.list(vec![own.clone()], true)?,
            ("emptySet" | "emptyMap", []) => {
                let mut all = Entries::default();
                all.is_fixed = true;
                let all = Rc::new(RefCell::new(all));
                let made = if name == "emptySet" { Value::Set(all) } else { Value::Map(all) };
                self.keep(made)?
            }
            ("singleton", [own]) => self.new_set(vec![own.clone()], false)?,
            ("singletonMap", [key, value]) => {
                let mut all = Entries::default();
                self.put(&mut all, key.clone(), value.clone())?;
                self.keep(Value::Map(Rc::new(RefCell::new(all))))?
            }
            ("sort", [own]) => self.sort(own)?,
            ("reverse", [Value::List(list)]) => {
                self.spend(count(list.borrow().items.len()))?;
                list.borrow_mut().items.reverse();
                Value::Null
            }
            ("max" | "min", [own]) => {
                let mut items = self.items_of(own)?;
                self.sorted(&mut items)?;
                let found = if name == "max" { items.last() } else { items.first() };
                found.cloned().ok_or_else(|| Thrown::no_element(None))?
            }
            ("toString", [own]) => {
                let items = self.items_of(own)?;
                let list = self.list(items, true)?;
                let mut units = Vec::new();
                self.show(&list, &mut units)?;
                self.text(units)?
            }
            (_, [Value::Null, ..]) => return Err(Thrown::null("")),
            _ => return Ok(None),
        }))
    }

    fn sort(&mut self, own: &Value) -> Run<Value> {
        let mut items = self.items_of(own)?;
        self.sorted(&mut items)?;
        match own {
            Value::List(list) => list.borrow_mut().items = items,
            other => {
                if let Some(array) = show::array(other) {
                    *array.borrow_mut() = items;
                }
            }
        }
        Ok(Value::Null)
    }

    fn sorted(&mut self, items: &mut [Value]) -> Run<()> {
        self.spend_sorting(items.len(), items.iter().map(size_bytes).sum())?;
        for pair in items.windows(2) {
            if let [one, other] = pair
                && show::order(one, other).is_none()
            {
                if matches!(one, Value::Null) || matches!(other, Value::Null) {
                    return Err(Thrown::null(""));
                }
                return Err(Thrown::class_cast(&show::class_of(one), "java.lang.Comparable"));
            }
        }
        items.sort_by(|one, other| show::order(one, other).unwrap_or(std::cmp::Ordering::Equal));
        Ok(())
    }
}
