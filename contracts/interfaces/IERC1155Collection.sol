// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICollection} from "./ICollection.sol";

/// @title IERC1155Collection
/// @notice A collection of tokens with copies. An id is created once, with its first copies, and minted more of later.
/// @dev Amounts and the supply of an id reach 2^128 - 1.
interface IERC1155Collection is ICollection {
    /// @notice Thrown when an id is created that was created before, even if no copy of it is left.
    error ERC1155AlreadyCreated(uint256 id);

    /// @notice Thrown when an id is minted, or given an URI, that was not created.
    error ERC1155NotCreated(uint256 id);

    /// @notice Thrown when the supply of an id would pass its limit.
    error ERC1155ExceededMaxSupply(uint256 id, uint256 amount, uint256 available);

    /// @notice Creates an id and mints its first copies. A receiver with code must accept them. For minters and the
    /// service.
    /// @param to Who gets the copies.
    /// @param id The id to create.
    /// @param amount The number of copies.
    /// @param tokenURI The id's own URI; empty to follow the collection's template.
    function create(address to, uint256 id, uint256 amount, string calldata tokenURI) external;

    /// @notice Mints more copies of an id that was created. A receiver with code must accept them. For minters and the
    /// service.
    function mint(address to, uint256 id, uint256 amount) external;

    /// @notice Moves copies by the signature of the wallet that holds them. Only the relay may call; it appends the
    /// request number, which is part of what is signed. A receiver with code must accept the copies.
    /// @param from The wallet that holds the copies and signed.
    /// @param to Who gets them.
    /// @param id The token id.
    /// @param amount The number of copies.
    /// @param r The first half of the signature over `TransferAuthorization`.
    /// @param vs The second half (ERC-2098).
    function transferWithAuthorization(
        address from,
        address to,
        uint256 id,
        uint256 amount,
        bytes32 r,
        bytes32 vs
    ) external;

    /// @notice Destroys copies. For their holder and whom the holder approved.
    function burn(address from, uint256 id, uint256 amount) external;

    /// @notice Destroys copies of several ids. For their holder and whom the holder approved.
    function burnBatch(address from, uint256[] calldata ids, uint256[] calldata amounts) external;

    /// @notice Gives one id its own URI; empty makes it follow the collection's template. Only the owner may call.
    function setTokenURI(uint256 id, string calldata tokenURI) external;

    /// @notice The collection's name.
    function name() external view returns (string memory);

    /// @notice The collection's symbol.
    function symbol() external view returns (string memory);

    /// @notice How many copies of the id exist.
    function totalSupply(uint256 id) external view returns (uint256);

    /// @notice Whether the id was created.
    function exists(uint256 id) external view returns (bool);
}
